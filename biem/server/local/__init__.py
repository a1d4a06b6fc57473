"""A read-only web page of a memory: its tiers, graph, facts and conflicts."""
