"""Values and arithmetic of memory; depends on the standard library only."""
