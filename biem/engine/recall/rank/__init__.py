"""From one pool of candidates to one order, in numpy."""
