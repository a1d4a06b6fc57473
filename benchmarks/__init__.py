"""Measurements of retrieval and latency. Each prints a table, writes JSON on request and judges nothing."""
