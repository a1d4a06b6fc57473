"""What a prompt holds of memories, and how each is written as a line."""
