"""From a program to an exact mechanism with a proof: methods by theory, rounding and assembly."""
