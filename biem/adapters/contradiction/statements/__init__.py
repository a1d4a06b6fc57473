"""What a statement says: its core of words and numbers, its parts, and its matter."""
