"""Reports of a solve: in the terminal, as JSON, as an HTML page."""
