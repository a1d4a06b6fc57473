"""Ports of the layers: sessions, items and the mirror."""
