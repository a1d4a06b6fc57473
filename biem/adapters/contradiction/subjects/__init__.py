"""Whom a statement is about: the speaker, relatives and other persons; and whether it reports what others say."""
