"""The read path: search, rank, build hits."""
