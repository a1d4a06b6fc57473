"""Changes that a message tells openly, clause by clause: what ended, a new number, place or name, an opposite state."""
