"""Ports of the notes: records of files and their chunks, the index, and what notes say of facts."""
