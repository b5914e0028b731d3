"""What a user declares: objectives and constraints."""
