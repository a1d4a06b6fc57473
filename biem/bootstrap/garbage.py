"""What the garbage collector need not look at."""

import gc


def pass_over_what_is_loaded() -> None:
    """Have the garbage collector leave out what lives as long as this process.

    A walk over all that a memory loads keeps the other threads waiting for a tenth of a second, again and again. Only
    for processes that are biem's own: what a program has loaded is not for a library to judge.
    """
    gc.collect()
    gc.freeze()
