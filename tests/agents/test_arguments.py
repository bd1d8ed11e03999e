"""What an agent sends is read strictly, by the type from which the schema was made."""

from typing import Any

import jsonschema
import pytest

from expctl.agents.arguments import (
    PATCH_LETTERS_MAX,
    Arguments,
    BriefArguments,
    ProposeArguments,
    ShowArguments,
    read,
    schema_of,
)
from expctl.agents.tools import TOOLS
from expctl.domain.errors import Refused

FIT = {"patch": "+x\n", "title": "a title", "hypothesis": "two\nlines\twith a tab"}


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_a_schema_is_valid_and_has_an_object_at_its_root(tool: Any) -> None:
    for kind in (tool.takes, tool.gives):
        schema = schema_of(kind)
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object"


def test_what_fits_is_read() -> None:
    assert read(None, Arguments, "status") == Arguments()
    assert read({"words": 2000}, BriefArguments, "brief").words == 2000
    taken = read({**FIT, "depends_on": ["P1"], "patch": "+a\r\n+\f\ufeff\n"}, ProposeArguments, "propose")
    assert (taken.title, taken.depends_on, taken.kind) == ("a title", ["P1"], "perf")


@pytest.mark.parametrize(
    ("sent", "found"),
    [
        ({}, "missing required field"),
        ({**FIT, "other": 1}, "unknown field"),
        ({**FIT, "title": 1}, "Expected `str`"),
        ({**FIT, "patch": "x" * (PATCH_LETTERS_MAX + 1)}, "length <= 1000000"),
        ({**FIT, "depends_on": ["P1"] * 21}, "length <= 20"),
    ],
)
def test_what_does_not_fit_is_refused(sent: dict[str, Any], found: str) -> None:
    with pytest.raises(Refused) as refused:
        read(sent, ProposeArguments, "propose")
    assert refused.value.code == "arguments-unfit"
    assert found in refused.value.found


@pytest.mark.parametrize("name", ["title", "hypothesis", "patch"])
@pytest.mark.parametrize("letter", ["\x1b", "\0", "\x7f", "\x9b", "\u202e", "\u2066"])
def test_a_character_that_a_terminal_obeys_is_refused(name: str, letter: str) -> None:
    with pytest.raises(Refused) as refused:
        read({**FIT, name: f"+some{letter}thing\n"}, ProposeArguments, "propose")
    assert refused.value.code == "argument-not-plain"
    assert f"U+{ord(letter):04X}" in refused.value.found
    assert letter not in str(vars(refused.value))


def test_a_title_is_one_line() -> None:
    with pytest.raises(Refused, match="title holds a character"):
        read({**FIT, "title": "two\nlines"}, ProposeArguments, "propose")
    with pytest.raises(Refused):
        read({"experiment": "P1\n"}, ShowArguments, "show")
