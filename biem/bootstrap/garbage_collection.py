"""Excludes long-lived objects from garbage collection."""

import gc


def pass_over_what_is_loaded() -> None:
    """Exclude objects that live as long as this process from garbage collection.

    A collection of all objects that a memory loads blocks the other threads for a tenth of a second, repeatedly. Only
    for biem's own processes: a library must not change the collection of a program's objects.
    """
    gc.collect()
    gc.freeze()
