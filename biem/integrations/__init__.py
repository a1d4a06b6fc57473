"""Memories behind the interfaces of agent frameworks. Each module needs another extra and is imported by name."""
