"""What other programs, agents and people reach over the network: the HTTP API, hooks, and the local page."""
