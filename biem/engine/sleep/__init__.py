"""Background jobs and their schedule."""
