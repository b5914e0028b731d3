"""The kernel that all theories share: the method interface, linear programmes, column generation."""
