"""Use cases on top of memories: sessions, and statements worth keeping."""
