"""What a sentence does: courtesy, order, lasting statement; and the part of a text that answers."""
