"""API keys and their request limits."""
