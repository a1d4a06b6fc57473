"""`/openapi.json` says the truth: Schemathesis, which no one here wrote, finds no answer that it does not describe."""

import re
import subprocess
import sys
from pathlib import Path

import httpx
import pytest

from biem.client.calls import CALLS
from tests.integration.server.conftest import Site

PROGRAM = Path(sys.executable).with_name("schemathesis")
ELSEWHERE = "positive_data_acceptance"
"""Not checked: a time in the past, an empty text or an unknown id fits the description and is refused all the same."""


def test_every_call_of_the_table_is_described(site: Site) -> None:
    document = httpx.get(f"{site.urls[0]}/openapi.json").json()
    for call in CALLS:
        operation = document["paths"][call.path][call.verb.lower()]
        assert operation["description"], call.name
        assert {"401", "403", "404", "413", "422", "429", "503"} <= operation["responses"].keys()
        problem = operation["responses"]["422"]["content"]["application/problem+json"]["schema"]
        assert problem == {"$ref": "#/components/schemas/Problem"}
    assert document["security"] == [{"key": []}]
    assert document["paths"]["/health"]["get"]["security"] == []


@pytest.mark.long
def test_schemathesis_finds_nothing_undescribed(site: Site, tmp_path: Path) -> None:
    # Given a key that is open for every user, and the description that the server gives
    token = site.key(None, None, ("read", "write", "erase", "admin")).token
    command = [
        str(PROGRAM), "run", f"{site.urls[0]}/openapi.json",
        "--header", f"Authorization: Bearer {token}", "--header", "Biem-User: schemathesis",
        "--exclude-checks", ELSEWHERE, "--seed", "1", "--no-color",
        "--phases", "coverage,fuzzing,stateful", "--max-examples", "15",
    ]  # fmt: skip

    # When its requests are made / Then no answer is a failure of the server, or another than the description says
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=550, check=False)
    assert done.returncode == 0, done.stdout[-6_000:]
    tested = re.search(r"Tested: (\d+)", done.stdout)
    assert tested is not None
    assert int(tested[1]) >= len(CALLS)
