"""A second checker of certificates, on python-flint, from docs/certificate-format.md alone: an oracle for tests.

It shares no code with the package and was written without sight of its checker, of its proofs and of their tests.
Simple and slow: exact rationals wherever they will do, balls of 640 bits where logarithms stand.
"""
