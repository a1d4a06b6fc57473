"""Which of several lines tells how things are now: successors, replacements, corrections, former values."""
