"""The declarations of a user: objectives and constraints."""
