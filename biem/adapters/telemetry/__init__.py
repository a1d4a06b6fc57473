"""Exporters of spans and metrics."""
