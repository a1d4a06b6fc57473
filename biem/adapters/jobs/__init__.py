"""Job queues: a thread of this process, or Celery."""
