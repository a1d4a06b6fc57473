"""Simulated lives: facts that people tell an agent, how they change, and the questions that they should answer."""
