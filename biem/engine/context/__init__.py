"""The block of lines that an agent's model reads."""
