"""Celery workers for the jobs that an embedded process runs on a thread: messages are wake-ups, jobs are in
PostgreSQL.
"""
