"""Studies: what is computed over many models at once, as the ledger of claims."""
