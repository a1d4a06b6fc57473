"""The write path after the acknowledgement: workers encode batches of messages."""
