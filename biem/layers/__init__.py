"""Use cases on top of memories: sessions."""
