"""Studies over many models at once, such as the ledger of claims."""
