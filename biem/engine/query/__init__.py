"""What a caller asked: its arguments checked, its text read."""
