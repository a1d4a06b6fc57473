"""Readers of other systems' files. Each yields records lazily, in bounded memory; none knows how they are stored."""
