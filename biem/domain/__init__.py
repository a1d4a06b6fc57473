"""Values and arithmetic of memory; needs nothing but the standard library."""
