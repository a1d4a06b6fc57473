"""Who may reach a memory over the network."""
