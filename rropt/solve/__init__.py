"""From a program to an exact mechanism with a proof: routes by theory, rounding and assembly."""
