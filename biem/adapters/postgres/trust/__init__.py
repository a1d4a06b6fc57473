"""Effects of the trust level of a memory: repeated writes and quarantine."""
