"""`celery -A workers.app …` in a checkout is `celery -A biem.workers.app …` anywhere."""

from biem.workers.app import app

__all__ = ["app"]
