"""Exports of a problem and its solution: programmes for other solvers, extreme rays, routes, multipliers."""
