"""What happens to a memory over time: tiers, retention, feedback, erasure."""
