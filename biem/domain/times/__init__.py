"""Time expressions in texts."""
