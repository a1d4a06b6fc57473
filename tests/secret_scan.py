"""Looks for secrets in every file of the repository: `python -m tests.secret_scan`, a part of `make check`.

detect-secrets knows the shapes of keys and what is too random to be a word. What it takes for a secret and is none is
listed below with its reason, by file and kind, so that a new one in the same file is found when it is of another kind.
"""

import re
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from detect_secrets.core import scan as scanning
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.high_entropy_strings import HighEntropyStringsPlugin
from detect_secrets.plugins.keyword import DENYLIST, KeywordDetector
from detect_secrets.settings import get_plugins, transient_settings

ROOT = Path(__file__).parent.parent
_WEIGHTS = "a digest of model weights"
_MADE_UP = "made up, to show that it is not shown"
ALLOWED = {
    (
        "biem/adapters/embedders/calibrations/multilingual-e5-small-q4-1571fc98.json",
        "Base64 High Entropy String",
    ): _WEIGHTS,
    ("biem/adapters/embedders/change.json", "Base64 High Entropy String"): "a direction of a model's space",
    ("biem/adapters/embedders/agenda.json", "Base64 High Entropy String"): "a direction of a model's space",
    ("biem/adapters/embedders/lists.json", "Base64 High Entropy String"): "a direction of a model's space",
    ("biem/adapters/embedders/list_map.json", "Base64 High Entropy String"): "a map of a model's space",
    ("biem/adapters/embedders/personal.json", "Base64 High Entropy String"): "a direction of a model's space",
    ("biem/adapters/embedders/courtesy.json", "Base64 High Entropy String"): "a direction of a model's space",
    ("biem/adapters/embedders/answers.json", "Base64 High Entropy String"): "a form of a model's space",
    ("biem/adapters/embedders/query_map.json", "Base64 High Entropy String"): "a map of a model's space",
    ("biem/adapters/embedders/calibrations/use-multilingual-v3-0-2-1.json", "Base64 High Entropy String"): _WEIGHTS,
    ("Makefile", "Basic Auth Credentials"): "what RabbitMQ gives to everybody on its own machine",
    ("biem/adapters/embedders/e5_weights.py", "Hex High Entropy String"): _WEIGHTS,
    ("biem/adapters/milvus/inspection.py", "Base64 High Entropy String"): "the digits of an id",
    ("biem/server/page/files/vendor/manifest.json", "Hex High Entropy String"): "digests of libraries of the page",
    ("deploy/compose.env", "Basic Auth Credentials"): "change-me-…; `make up` writes random ones into .env",
    ("deploy/kubernetes/secret.example.yaml", "Basic Auth Credentials"): "an example to fill in",
    ("docs/deployment.md", "Basic Auth Credentials"): "an example to fill in, and RabbitMQ's own for one machine",
    ("docs/quickstart.md", "Basic Auth Credentials"): "an example to fill in",
    ("tests/contract/reasoner/test_reasoner.py", "Secret Keyword"): _MADE_UP,
    ("tests/contract/postgres/records/test_connections.py", "Basic Auth Credentials"): _MADE_UP,
    ("tests/integration/admin/test_diagnose.py", "Basic Auth Credentials"): _MADE_UP,
    ("tests/integration/faults/test_refusing_embedder.py", "Secret Keyword"): _MADE_UP,
    ("tests/integration/security/test_secrets.py", "Secret Keyword"): _MADE_UP,
    ("tests/integration/security/test_tls.py", "Secret Keyword"): _MADE_UP,
    ("tests/contract/postgres/test_row_level_security.py", "Secret Keyword"): "why a table has no scope",
    ("tests/unit/config/test_config.py", "Secret Keyword"): _MADE_UP,
    ("tests/unit/benchmarks/test_contradiction_benchmark.py", "GitHub Token"): "letters of a made-up word",
    ("tests/unit/bootstrap/test_embedder_choice.py", "Secret Keyword"): _MADE_UP,
    ("tests/unit/bootstrap/test_env_file.py", "Base64 High Entropy String"): "names of settings",
    ("tests/unit/bootstrap/test_env_file.py", "Basic Auth Credentials"): _MADE_UP,
    ("tests/unit/bootstrap/test_env_file.py", "Secret Keyword"): _MADE_UP,
    ("tests/unit/test_redaction.py", "Secret Keyword"): _MADE_UP,
    ("tests/unit/domain/test_text.py", "Hex High Entropy String"): "the digest of a text",
}
_SHAPES = (
    "ArtifactoryDetector", "AWSKeyDetector", "AzureStorageKeyDetector", "BasicAuthDetector",
    "DiscordBotTokenDetector", "GitHubTokenDetector", "GitLabTokenDetector", "JwtTokenDetector",
    "KeywordDetector", "MailchimpDetector", "NpmDetector", "OpenAIDetector", "PrivateKeyDetector",
    "PypiTokenDetector", "SendGridDetector", "SlackDetector", "SquareOAuthDetector", "StripeDetector",
    "TelegramBotTokenDetector", "TwilioKeyDetector",
)  # fmt: skip
_PLUGINS: list[dict[str, Any]] = [
    *({"name": name} for name in _SHAPES),
    {"name": "Base64HighEntropyString", "limit": 4.5},
    {"name": "HexHighEntropyString", "limit": 3.0},
]
_GENERATED = (".venv", ".git", ".mypy", ".ruff", ".pytest", ".hypothesis", "__pycache__")
_NOT_READ = (".lock",)
"""Lock files hold thousands of digests, and nothing that a person wrote."""


@dataclass(frozen=True)
class Finding:
    """What looks like a secret, and where."""

    file: str
    line: int
    kind: str


def files() -> list[str]:
    """The files that a commit would hold; of a tree without git, those that are not generated."""
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
            cwd=ROOT, capture_output=True, check=True,
        ).stdout.decode()  # fmt: skip
        found = [name for name in listed.split("\0") if name and (ROOT / name).is_file()]
    except (OSError, subprocess.CalledProcessError):
        found = [
            str(path.relative_to(ROOT))
            for path in ROOT.rglob("*")
            if path.is_file()
            and not any(part.startswith((".venv", ".git", ".mypy", ".ruff", "__pycache__")) for part in path.parts)
        ]
    return [name for name in found if not name.endswith(_NOT_READ)]


Likely = Callable[[str], bool]
_KEYWORD = re.compile("|".join(DENYLIST), re.IGNORECASE)


def scan(names: Iterable[str], root: Path = ROOT) -> Iterator[Finding]:
    """What looks like a secret in these files; nothing is asked over the network whether it works.

    detect-secrets gives each line to each plugin and to its filters, which takes a minute for this repository. A plugin
    that matches nothing in the text of a file as a whole matches none of its lines and does not get them; the others
    get the lines in which one of them may match, each after the line before it, which may say that it is allowed.
    """
    with transient_settings({"plugins_used": _PLUGINS}):
        plugins = list(zip(_PLUGINS, map(_likely, get_plugins()), strict=True))
    for name in names:
        for lines in scanning._get_lines_from_file(str(root / name)):
            text = "\n".join(lines)
            wanted = [(settings, likely) for settings, likely in plugins if likely(text)]
            found = list(_found(name, lines, wanted)) if wanted else []
            yield from found
            if found:
                break


def _found(name: str, lines: Sequence[str], wanted: Sequence[tuple[dict[str, Any], Likely]]) -> Iterator[Finding]:
    """What these plugins find in the lines of a file."""
    here = [any(likely(line) for _, likely in wanted) for line in lines]
    kept = [place for place, itself in enumerate(here) if itself or any(here[place + 1 : place + 2])]
    with transient_settings({"plugins_used": [settings for settings, _ in wanted]}):
        given = [(number, lines[place]) for number, place in enumerate(kept, start=1)]
        for secret in scanning._process_line_based_plugins(given, name):
            yield Finding(name, kept[secret.line_number - 1] + 1, secret.type)


def _likely(plugin: Any) -> Likely:
    """Whether a plugin may find something in a text of many lines: true at least where it does in one of them."""
    if isinstance(plugin, RegexBasedDetector):
        patterns = [re.compile(one.pattern, one.flags | re.MULTILINE) for one in plugin.denylist]
        return lambda text: any(pattern.search(text) for pattern in patterns)
    if isinstance(plugin, HighEntropyStringsPlugin):
        limit = plugin.entropy_limit
        fewest = 2**limit  # different characters; with fewer, the entropy is below the limit
        return lambda text: any(
            len(set(one)) >= fewest and plugin.calculate_shannon_entropy(one) > limit
            for one in plugin.analyze_string(text)
        )
    assert isinstance(plugin, KeywordDetector)
    return lambda text: _KEYWORD.search(text) is not None


def main() -> None:
    """Say what was found; exit 1 when something is not listed."""
    found = list(scan(files()))
    new = [finding for finding in found if (finding.file, finding.kind) not in ALLOWED]
    for finding in new:
        sys.stderr.write(f"{finding.file}:{finding.line}: looks like a secret ({finding.kind})\n")
    if new:
        sys.exit("remove it and revoke it; or list it in tests/secret_scan.py with the reason why it is none")
    sys.stdout.write(f"no secret in the repository ({len(ALLOWED)} lookalikes are listed)\n")


if __name__ == "__main__":
    main()
