"""Files, tables of counts, records and processes: what rropt shares with the machine."""
