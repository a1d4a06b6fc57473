"""Use cases of memory, one verb a file; speaks only to ports."""
