"""Times that texts name."""
