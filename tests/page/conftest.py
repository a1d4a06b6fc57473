"""A server on real stores, a scope with something to show, and a browser that reports every complaint."""

import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import psycopg
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from biem.bootstrap import Servers
from biem.bootstrap.server import Backend, open_backend
from biem.domain.scope import Scope
from biem.memory import Memory
from biem.server.app import build
from biem.server.local.app import access_of
from tests.integration.server.conftest import listening
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure

NODES, LINKS = 2_000, 4_000
OWN, GREAT = Scope("acme", "li", ""), Scope("acme", "many", "")
EVIL = '<img src="x" onerror="document.title=1"><script>alert(1)</script>'
_REPORT = """
addEventListener("securitypolicyviolation", (event) =>
  console.error(`CSP: ${event.violatedDirective} ${event.blockedURI}`));
"""


@dataclass
class Site:
    """Two servers on the same stores: `url` needs keys, `local` needs none."""

    url: str
    local: str
    backend: Backend
    memory: Memory
    ids: list[str]

    def key(self, scope: Scope = OWN, grants: tuple[str, ...] = ("read", "write", "erase", "admin")) -> str:
        """The token of a new key."""
        return self.backend.keys.add(scope.tenant, scope.user, scope.project, grants).token


@dataclass
class Window:
    """A tab, with everything that its console complained about."""

    page: Page
    complaints: list[str] = field(default_factory=list)

    def shown(self, view: str) -> None:
        """Wait until a view is complete."""
        self.page.locator(f'section[data-view="{view}"][aria-busy="false"]').wait_for(timeout=60_000)

    def enter(self, token: str) -> None:
        """Enter a key where the page asks for one."""
        self.page.locator("#key").fill(token)
        self.page.locator("#key").press("Enter")


@pytest.fixture(scope="session")
def site(settings: Configure, stack: Servers) -> Iterator[Site]:
    """Servers on a scope with memories, links, a conflict, a session, and another with a great graph."""
    chosen = settings(tenant=OWN.tenant, user=OWN.user, project=OWN.project)
    with open_backend(chosen, embedder=WordEmbedder()) as backend:
        memory = backend.memory.scope(tenant=OWN.tenant, user=OWN.user, project=OWN.project)
        ids = _told(memory)
        _great_graph(stack, backend.memory.scope(tenant=GREAT.tenant, user=GREAT.user, project=GREAT.project))
        with (
            listening(build(lambda: nullcontext(backend))) as url,
            listening(build(lambda: nullcontext(backend), local=lambda: access_of(chosen, OWN))) as local,
        ):
            yield Site(url, local, backend, memory, ids)


def _told(memory: Memory) -> list[str]:
    begun = datetime.now(UTC) - timedelta(days=40)
    texts = [
        "The boat is called Andorinha",
        "The mooring of the boat is number 17",
        f"{EVIL} was in a message",
        "My employer is Acme",
        "林晓喜欢在河边散步",
    ]
    items = [{"text": text, "at": begun + timedelta(days=8 * number)} for number, text in enumerate(texts)]
    ids = memory.remember_many(items, wait=True)
    for text, day in CONTRADICTION:
        ids.append(memory.remember(text, speaker="Ann", at=begun + timedelta(days=day), wait=True))
    for pair in pairwise(ids):
        memory.feedback(useful=list(pair))
    chat = memory.sessions.open(name="harbour")
    memory.sessions.append(chat.id, "user", "Where is the boat moored?")
    memory.sessions.append(chat.id, "assistant", "At number 17.")
    memory.flush(30)
    return ids


CONTRADICTION = (("I live in Lisbon", 10), ("I live in Porto now", 30))


def _great_graph(stack: Servers, memory: Memory) -> None:
    """Concepts and links between them, as many as the page draws."""
    memory.remember("A scope with many concepts", wait=True)
    ns = memory.bound_to.ns
    with psycopg.connect(stack.postgres_dsn, autocommit=True) as admin:
        admin.execute(
            "INSERT INTO concepts (id, ns, name, created_at)"
            " SELECT md5(%(ns)s::text || i)::uuid, %(ns)s, 'concept ' || i, now() FROM generate_series(1, %(nodes)s) i",
            {"ns": ns, "nodes": NODES},
        )
        admin.execute(
            "INSERT INTO crystal_links (ns, source_id, target_id, link_type, weight, strength)"
            " SELECT %(ns)s, least(a, b), greatest(a, b), 'cooccurrence', 0.5, 1 FROM ("
            "  SELECT DISTINCT md5(%(ns)s::text || (1 + i %% %(nodes)s))::uuid::text AS a,"
            "   md5(%(ns)s::text || (1 + (i * 7 + i / %(nodes)s + 1) %% %(nodes)s))::uuid::text AS b"
            "  FROM generate_series(0, %(links)s - 1) i) ends WHERE a <> b ON CONFLICT DO NOTHING",
            {"ns": ns, "nodes": NODES, "links": LINKS},
        )


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Chromium, of this machine."""
    program = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
    assert program, "this needs Chromium; on Debian: apt-get install chromium"
    expect.set_options(timeout=60_000)  # machines are busy
    flags = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
    with sync_playwright() as playwright:
        opened = playwright.chromium.launch(executable_path=program, args=flags)
        yield opened
        opened.close()


@pytest.fixture
def tab(browser: Browser) -> Iterator[Callable[..., Window]]:
    """Opens tabs; at the end none may have complained."""
    windows: list[Window] = []

    @contextmanager
    def opened(**options: str) -> Iterator[Window]:
        with browser.new_context(**{"locale": "en-GB", **options}) as context:  # type: ignore[arg-type]
            page = context.new_page()
            window = Window(page)
            page.add_init_script(_REPORT)
            page.on("console", lambda said: window.complaints.append(said.text) if said.type == "error" else None)
            page.on("pageerror", lambda error: window.complaints.append(str(error)))
            page.set_default_timeout(60_000)
            yield window

    stack: list[object] = []

    def open_tab(**options: str) -> Window:
        context = opened(**options)
        window = context.__enter__()
        stack.append(context)
        windows.append(window)
        return window

    yield open_tab
    for context in reversed(stack):
        context.__exit__(None, None, None)  # type: ignore[attr-defined]
    assert [window.complaints for window in windows if window.complaints] == []
