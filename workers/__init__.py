"""The entry point of Celery in a checkout; the workers themselves are `biem.workers`, which the wheel installs."""
