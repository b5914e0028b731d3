"""What is below a problem and above a certificate: programmes for other solvers, rays, routes, duals."""
