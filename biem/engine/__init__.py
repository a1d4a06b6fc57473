"""Use cases of memory, one capability per folder; depends on ports only."""
