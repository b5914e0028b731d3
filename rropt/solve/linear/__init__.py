"""Linear objectives by linear programming, with a dual proof."""
