"""Files, tables of counts, records, clocks and processes."""
