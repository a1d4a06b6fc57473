"""Rules that recognise in a message what is worth keeping: habits, orders, decisions, tasks, notes, facts."""
