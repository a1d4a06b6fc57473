"""Writes deploy/compose.env with a random password in place of each `change-me-…`, the same one for the same name."""

import re
import secrets
import sys
from collections import defaultdict

passwords: defaultdict[str, str] = defaultdict(lambda: secrets.token_hex(16))
for line in sys.stdin:
    said = line if line.startswith("#") else re.sub(r"change-me-\w+", lambda found: passwords[found[0]], line)
    sys.stdout.write(said)
