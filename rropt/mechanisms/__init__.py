"""Ways of randomising an answer: explicit matrices and named families."""
