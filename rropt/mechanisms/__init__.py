"""Ways of randomising an answer: explicit matrices and named families."""

# Imported with the first of them, as its class reads one version of mechanism files.
from rropt.mechanisms import off_diagonal

__all__ = ["off_diagonal"]
