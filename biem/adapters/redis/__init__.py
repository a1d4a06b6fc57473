"""Adapters on Redis or Valkey."""
