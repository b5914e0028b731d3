"""Problems with a floor on the entropies of rows."""
