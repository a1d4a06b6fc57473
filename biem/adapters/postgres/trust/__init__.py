"""What depends on how far a memory is believed: repeated writes and quarantine."""
