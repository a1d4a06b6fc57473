"""Where spans and counters go."""
