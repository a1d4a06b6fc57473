"""Which memories contradict each other, and what is done about it."""
