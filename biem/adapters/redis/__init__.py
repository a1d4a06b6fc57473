"""The ports that Redis or Valkey serves."""
