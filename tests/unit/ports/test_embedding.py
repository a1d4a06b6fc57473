"""Products of matrices and vectors, also while the process is forked."""

import os
import subprocess
import sys

import numpy as np
import pytest

from biem.ports.embedding import pair_products, row_products, weighted_rows


def test_they_are_the_products_of_linear_algebra() -> None:
    # Given rows, a vector of their width and one of their number
    rng = np.random.default_rng(7)
    rows, others = rng.random((5, 3)), rng.random((4, 3))
    wide, tall = rng.random(3), rng.random(5)

    # Then each product is what `@` gives
    np.testing.assert_allclose(row_products(rows, wide), rows @ wide)
    np.testing.assert_allclose(weighted_rows(tall, rows), tall @ rows)
    np.testing.assert_allclose(pair_products(rows, others), rows @ others.T)

    # And of bools, which say whether a term is there, as of numbers
    np.testing.assert_allclose(weighted_rows(tall, rows > 0.5), tall @ (rows > 0.5))


PROGRAM = """
import os, threading
import numpy as np
from biem.ports.embedding import pair_products, row_products, weighted_rows

rows = np.random.default_rng(1).random((400, 384)).astype(np.float32)
stop = threading.Event()

def work():
    while not stop.is_set():
        row_products(rows, rows[0]), weighted_rows(rows[:, 0], rows), pair_products(rows, rows[:3])

threads = [threading.Thread(target=work) for _ in range(2)]
for thread in threads:
    thread.start()
for _ in range(150):
    child = os.fork()
    if not child:
        row_products(rows, rows[0])
        os._exit(0)
    os.waitpid(child, 0)
stop.set()
for thread in threads:
    thread.join()
print("done")
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_during_them_hangs_neither_parent_nor_child() -> None:
    # Given a program whose threads multiply without a pause / When it is forked, again and again
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", PROGRAM], capture_output=True, text=True, timeout=120, check=False
    )

    # Then each child multiplies and ends, and so do the threads (with `@` this hangs)
    assert (done.stdout, done.stderr) == ("done\n", "")
