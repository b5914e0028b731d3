"""Exact robust local differential privacy over confidence sets, by cuts."""
