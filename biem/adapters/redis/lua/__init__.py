"""Lua scripts: one atomic group of commands per file, with its key layout at the head."""
