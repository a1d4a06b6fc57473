"""Lists, diagnosis, and rebuilding of indexes."""
