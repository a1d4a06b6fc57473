"""A web page to look at a memory: its tiers, its graph, its facts and its conflicts. It reads and changes nothing."""
