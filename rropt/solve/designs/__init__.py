"""Designs for estimation: risks minimised by column generation."""
