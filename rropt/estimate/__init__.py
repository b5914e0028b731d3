"""Designs for estimating frequencies: minimax strategies and identifiability."""
