"""Lua scripts: one atomic command family a file, the key layout at its head."""
