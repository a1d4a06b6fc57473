"""The ports that PostgreSQL serves."""
