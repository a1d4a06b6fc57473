"""Values and arithmetic of memory; depends on the standard library and `annotated_types` only."""
