"""The write path after the acknowledgement: one batch of a worker."""
