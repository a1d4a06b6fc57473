"""Speech acts of sentences (courtesy, order, lasting statement), and the excerpt of a text that answers a question."""
