"""Wrong arguments are refused in words for the one who sent them, without a trace of the library that found them."""

import asyncio
from typing import Any

import pytest
from mcp.server.mcpserver.exceptions import ToolError
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError

from biem.client.faults import place_of, words_of
from biem.server.mcp.tools import build


def refused(name: str, **arguments: Any) -> str:
    with pytest.raises(ToolError) as caught:
        asyncio.run(build(lambda _: pytest.fail("called")).call_tool(name, arguments))
    return str(caught.value)


@pytest.mark.parametrize(
    ("name", "arguments", "said"),
    [
        ("remember", {}, "remember: text: is missing"),
        ("recall", {"query": "q", "top_k": 0}, "recall: top_k: must be greater than or equal to 1"),
        ("recall", {"query": "q", "since": "a day ago"}, "recall: since: must be a time in ISO 8601"),
        (
            "remember",
            {"text": 5, "importance": 9},
            "remember: text: must be a string; importance: must be",
        ),
    ],
)
def test_an_agent_reads_which_argument_of_a_tool_is_wrong(name: str, arguments: dict[str, Any], said: str) -> None:
    words = refused(name, **arguments)
    assert words.startswith(said)
    assert not [one for one in ("pydantic", "validation error", "Arguments", "type=") if one in words]


def test_faults_of_a_body_are_named_for_who_wrote_it() -> None:
    class Body(BaseModel):
        model_config = ConfigDict(extra="forbid")
        text: str

    def faults(given: object) -> list[str]:
        with pytest.raises(ValidationError) as caught:
            TypeAdapter(Body).validate_python(given, from_attributes=True)
        return [f"{place_of(each)}: {words_of(each)}" for each in caught.value.errors()]

    assert faults({"txt": "x"}) == ["text: is missing", "txt: there is no such field"]
    assert faults("text") == [": must be a JSON object, with Content-Type: application/json"]
    broken = {"type": "json_invalid", "loc": ("body", 9), "msg": "JSON decode error", "ctx": {"error": "no value"}}
    assert (place_of(broken), words_of(broken)) == ("body", "no JSON: no value, at character 10")
