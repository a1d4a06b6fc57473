"""Write the packaged models' means and scales again: `python -m benchmarks.calibrate`.

Run it after a change of `sentences.json`, of a packaged model or of the fit; commit what it writes under
`biem/adapters/embedders/calibrations/`. `--check` writes nothing and fails when the files are not up to date.
"""

import argparse
import sys
from collections.abc import Callable

import numpy as np

from biem.adapters.embedders import calibration
from biem.adapters.embedders.e5 import E5Encoder
from biem.adapters.embedders.encoder import Encoder
from biem.adapters.embedders.use_multilingual import UseEncoder

_TOLERANCE = 1e-2
"""Knots and means fitted on another processor may differ this much."""
_PACKAGED: tuple[Callable[[], Encoder], ...] = (lambda: E5Encoder(None), lambda: UseEncoder(None))


def main() -> int:
    """Fit both packaged models; returns the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="compare with the files instead of writing them")
    check = parser.parse_args().check
    stale = False
    for make in _PACKAGED:
        encoder = make()
        fitted = calibration.fit(encoder)
        path = calibration.packaged_path(encoder.name)
        print(f"{encoder.name}: knots {fitted.knots}")
        if not check:
            calibration.save(path, fitted)
            continue
        kept = calibration.load(path, encoder.name)
        if kept is None or not np.allclose(kept.knots, fitted.knots, atol=_TOLERANCE):
            print(f"{path.name} is not up to date; run: python -m benchmarks.calibrate", file=sys.stderr)
            stale = True
    return int(stale)


if __name__ == "__main__":
    sys.exit(main())
