"""Topics of past conversations, notes on the current one, and running memory."""
