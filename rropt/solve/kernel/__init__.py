"""The kernel that all theories share: the route interface, linear programmes, column generation."""
