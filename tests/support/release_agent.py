"""A program of the version that is first on the path: takes orders as lines of JSON, and answers each with one."""

import json
import sys
from typing import Any

import biem
from biem.aim import AimMemory
from biem.bootstrap import migrate
from biem.config import load_settings
from tests.support.fakes import WordEmbedder


def main() -> None:
    """Orders are [verb, arguments]; `scope` and `queue` come first."""
    scope, queue = sys.argv[1:]
    settings = load_settings().model_copy(update={"queue": queue})
    migrate(settings)
    with biem.connect(settings, scope=biem.Scope(user=scope), embedder=WordEmbedder()) as memory:
        plugin = biem.BIEMContextPlugin(memory, conversation="c", running=True)
        tell(biem.__file__)
        for line in sys.stdin:
            verb, arguments = json.loads(line)
            tell(answer(memory, plugin, verb, arguments))


def tell(what: Any) -> None:
    """One line of JSON."""
    sys.stdout.write(json.dumps(what) + "\n")
    sys.stdout.flush()


def answer(memory: biem.Memory, plugin: biem.BIEMContextPlugin, verb: str, given: dict[str, Any]) -> Any:
    """What came of an order."""
    match verb:
        case "remember":
            return memory.remember(given["text"], speaker="Ann", conversation="c", importance=5, wait=given["wait"])
        case "recall":
            hits = memory.recall(given["query"], top_k=20, session=given.get("session", ""))
            return {"texts": sorted(hit.node.text for hit in hits), "degraded": list(hits.degraded)}
        case "use":
            memory.running(given["query"], conversation="c")
            AimMemory(memory).route_memory(given["query"], conversation="c")
            stats = AimMemory(memory).get_stats("c")
            return {"block": plugin.prepare_context(given["query"]), "hot": stats["hot_kv_size"]}
        case "feedback":
            return memory.feedback(given["useful"]).useful
        case "erase":
            return memory.erase(given["id"]).complete
        case "sleep":
            return [str(report) for report in memory.sleep().failed]
        case "flush":
            return memory.flush()
        case "status":
            return memory.get(given["id"]).status
        case "diagnose":
            return [finding.id for finding in memory.diagnose(full=True, fix=given.get("fix", False)).findings]
    raise LookupError(verb)


if __name__ == "__main__":
    main()
