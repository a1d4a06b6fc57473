"""Types of numbers with a smallest and a largest value; the settings refuse all others by name."""

from typing import Annotated

from annotated_types import Interval

MOST = 1_000_000_000
"""Maximum of sizes and counts: fits a column of four bytes."""
_YEAR_S = 366 * 86_400
_DAYS = 1_000_000

Share = Annotated[float, Interval(ge=0, le=1)]
Size = Annotated[int, Interval(ge=1, le=MOST)]
Count = Annotated[int, Interval(ge=0, le=MOST)]
"""As `Size`, or 0."""
Seconds = Annotated[float, Interval(gt=0, le=_YEAR_S)]
"""Up to a year."""
Pause = Annotated[float, Interval(ge=0, le=_YEAR_S)]
"""As `Seconds`, or 0."""
Days = Annotated[float, Interval(gt=0, le=_DAYS)]
"""Up to some thousand years, as good as for ever."""
