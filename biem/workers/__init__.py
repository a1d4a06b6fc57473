"""Celery around the same functions that an embedded process runs on a thread: wake-ups in, work in PostgreSQL."""
