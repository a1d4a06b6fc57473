"""LangMem's own tools on `BiemStore`: `make test-langmem` installs it in its own environment."""

import importlib
import importlib.util
import warnings
from pathlib import Path
from typing import Any

import pytest

import biem
from biem.config import Settings
from biem.integrations.langgraph import BiemStore
from tests.support.fakes import WordEmbedder

if importlib.util.find_spec("langmem") is None:
    pytest.skip("LangMem is not installed here; run: make test-langmem", allow_module_level=True)

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # it uses names that LangGraph calls deprecated
    langmem: Any = importlib.import_module("langmem")


@pytest.mark.filterwarnings("ignore")
def test_its_tools_create_update_search_and_delete(tmp_path: Path) -> None:
    with biem.connect(Settings(home=tmp_path / "home"), embedder=WordEmbedder()) as memory:
        # Given the tools of an agent
        store = BiemStore(memory)
        manage = langmem.create_manage_memory_tool(namespace=("memories", "ann"), store=store)
        search = langmem.create_search_memory_tool(namespace=("memories", "ann"), store=store)

        # When it creates a memory and corrects it
        key = manage.invoke({"content": "Ann prefers dark mode", "action": "create"}).split()[-1]
        manage.invoke({"content": "Ann prefers light mode", "action": "update", "id": key})

        # Then both it and recall find the present one only
        assert "light mode" in search.invoke({"query": "which mode does Ann prefer"})
        assert [hit.node.text for hit in memory.recall("mode")] == ["Ann prefers light mode"]
        # And it can delete it
        manage.invoke({"action": "delete", "id": key})
        assert store.search(("memories",)) == []
