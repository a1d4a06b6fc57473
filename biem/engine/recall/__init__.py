"""The read path: find candidates, rank them, make hits."""
