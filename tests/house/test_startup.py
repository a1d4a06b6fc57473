"""What starts fast does so because it does not load what it does not need."""

import subprocess
import sys

CLIENTS = {"celery", "httpx", "pandas", "pymilvus", "redis", "rjieba"}
HEAVY = CLIENTS | {"numpy", "onnxruntime", "psycopg", "pydantic_settings", "tokenizers", "vaderSentiment"}
"""What connects, computes, embeds or reads settings: a second of imports and more. (Typer itself loads pydantic.)"""


def loaded(program: str) -> set[str]:
    """The top-level packages that a new interpreter has loaded after a program."""
    script = f"{program}\nimport sys\nsys.stderr.write(' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return {name.partition(".")[0] for name in done.stderr.split()}


def modules(program: str) -> set[str]:
    """Every module that a new interpreter loads for a program, beyond those that it has without any."""
    script = f"import sys\nbefore = set(sys.modules)\n{program}\nsys.stderr.write(' '.join(set(sys.modules) - before))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    return set(done.stderr.split())


def test_importing_the_package_loads_a_handful_of_modules() -> None:
    # Given a program that imports biem / When it has done no more / Then only itself was loaded, and `typing`
    found = modules("import biem")
    assert {name for name in found if name.startswith("biem")} == {"biem"}
    assert len(found) < 40


def test_the_help_loads_what_shows_it() -> None:
    # Given `biem --help`, within .4 s / When it was shown / Then a third of what a recall loads was not even looked at
    found = modules("from biem.cli.app import run\nassert run(['--help']) == 0")
    assert {name.partition(".")[0] for name in found} & HEAVY == set()
    assert not {name for name in found if name.startswith(("biem.adapters", "biem.bootstrap", "biem.engine"))}
    assert {"rich.progress", "biem.memory", "biem.config"} & found == set()
    assert len(found) < 450


def test_a_recall_loads_no_more_than_it_did() -> None:
    # Given what `biem recall` loads before it asks a server / Then no web server and no progress bar,
    # and no more modules than when its CPU time was measured
    found = modules(
        "from biem.cli.app import application; application('recall')\n"
        "import biem.bootstrap.system, biem.memory, biem.bootstrap.embedder"
    )
    top = {name.partition(".")[0] for name in found}
    unwanted = {"celery", "httpx", "networkx", "opentelemetry", "pandas", "requests", "rjieba", "starlette"}
    assert top & unwanted == set()
    assert "rich.progress" not in found
    assert len(found) < 1_201


def test_a_command_that_needs_no_memory_loads_none() -> None:
    # Given the command line / When it only tells something / Then no client, no model and no settings are loaded
    commands = [["version"], ["--help"], ["recall", "--help"]]
    found = loaded(f"from biem.cli.app import run\nfor command in {commands}: assert run(command) == 0")
    assert "typer" in found
    assert found & HEAVY == set()


def test_the_clients_of_the_servers_are_loaded_by_those_who_connect() -> None:
    # Given a program that prepares to connect / When it has not yet / Then no client was loaded
    assert loaded("import biem.bootstrap") & CLIENTS == set()


def test_what_asks_a_model_is_loaded_by_those_who_have_one() -> None:
    # Given a program about to open a memory without a language model / Then what speaks to one was not loaded
    found = loaded("import biem.bootstrap.system")
    assert "pymilvus" in found
    assert found & {"celery", "httpx", "json_repair", "rjieba", "typer"} == set()


def test_what_connects_loads_nothing_that_a_recall_does_not_need() -> None:
    # Given a program about to open a memory / When clients are loaded and the rules of contradictions are built
    found = loaded("import biem.bootstrap.system\nfrom biem.adapters import contradiction\ncontradiction.build()")

    # Then what pymilvus would load besides was not
    assert "pymilvus" in found
    assert found & {"pandas", "requests", "urllib3"} == set()


def test_the_rules_of_contradictions_are_compiled_by_who_compares() -> None:
    # Given a recall, which compares nothing / Then the patterns, as dear as the recall itself, were not compiled
    script = "import sys, biem.bootstrap.system\nprint('biem.adapters.contradiction.rules' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert done.stdout.strip() == "False"


def test_a_recall_that_compares_values_loads_half_of_the_rules() -> None:
    # Given two values of one thing, as a recall compares them / Then the patterns of verdicts were not compiled
    found = modules(
        "from datetime import UTC, datetime\nfrom biem.adapters import contradiction\n"
        "from biem.domain.conflict import Statement\nnow = datetime(2026, 5, 4, tzinfo=UTC)\n"
        "one, two = (Statement(text, 'Ann', now) for text in ('I live in Graz', 'I live in Linz'))\n"
        "assert contradiction.build().rivals(one, two)\nassert contradiction.build().matter('I am Ann').persons"
    )
    rules = {name.rpartition(".")[2] for name in found if name.startswith("biem.adapters.contradiction.")}
    assert rules & {"claims", "weak_cues", "polarity", "slots", "rules", "clause_updates"} == set()


def test_the_public_names_load_what_they_name_only() -> None:
    # Given a program that names scopes and catches our errors / When it does no more / Then nothing heavy is loaded
    found = loaded("import biem\nassert issubclass(biem.NotFound, biem.BiemError)\nbiem.Scope(user='li')")
    assert found & HEAVY == set()


def test_a_command_looks_for_no_garbage_while_it_loads_what_it_needs() -> None:
    # Given the command line / When it loads all that a recall needs / Then the garbage collector walked through none
    script = (
        "import gc, sys\nfrom biem.cli import app\nsys.argv[1:] = ['version']\nwalks = [0]\napp.leave = walks.append\n"
        "gc.callbacks.append(lambda phase, told: walks.append(1))\n"
        "app.main()\nimport biem.bootstrap.system\nprint('walks:', sum(walks))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert int(done.stdout.partition("walks:")[2]) == 0
