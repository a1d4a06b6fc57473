"""The life cycle of a memory: tiers, retention, feedback, erasure."""
