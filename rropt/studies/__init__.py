"""Studies over many models at once, such as the reproducibility report."""
