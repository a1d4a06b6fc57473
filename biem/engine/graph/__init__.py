"""Links between memories and what activation reaches along them."""
