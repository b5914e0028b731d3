"""Studies of robust local differential privacy that solve several problems."""
