"""Hostile and wrong YAML: each input has one clear problem, and all problems of a file come together."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

import pytest

from expctl.adapters.codec import strict_yaml
from expctl.domain.errors import Refused


class Colour(StrEnum):
    """Two words."""

    RED = "red"
    BLUE = "blue"


@dataclass(frozen=True, slots=True, kw_only=True)
class Inner:
    """A nested mapping."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One field of every kind."""

    text: str = ""
    count: int = 0
    share: float = 0.0
    on: bool = False
    colour: Colour = Colour.RED
    words: tuple[str, ...] = ()
    pair: tuple[float, float] | None = None
    inner: Inner | None = None
    table: Mapping[str, str] = field(default_factory=dict)


def load(text: str | bytes) -> Document:
    return strict_yaml.load(text if isinstance(text, bytes) else text.encode(), Document, where="file.yaml")


def test_everything_that_is_allowed() -> None:
    text = """\
# a comment
text: no
count: -12
share: +1.50
on: true
colour: blue
words: [a, 'b c', "012"]
pair: [1, 2.5]
inner: {name: x}
table: {A: "1", B: 1e3}
"""
    assert load(text) == Document(
        text="no",
        count=-12,
        share=1.5,
        on=True,
        colour=Colour.BLUE,
        words=("a", "b c", "012"),
        pair=(1.0, 2.5),
        inner=Inner(name="x"),
        table={"A": "1", "B": "1e3"},
    )


@pytest.mark.parametrize(
    "typed", ["no", "yes", "off", "012", "1e3", "12:30:45", "2026-01-01", "0x10", ".inf", "1_000", "=", "<<"]
)
def test_text_stays_as_it_was_typed(typed: str) -> None:
    assert load(f"text: {typed}\nwords: [{typed}]\ntable: {{k: {typed}}}") == Document(
        text=typed, words=(typed,), table={"k": typed}
    )


@pytest.mark.parametrize("nothing", ["null", "~", ""])
def test_an_optional_value_may_be_nothing(nothing: str) -> None:
    assert load(f"pair: {nothing}\ninner: {nothing}") == Document()


BOMB = "a: &a [x]\n" + "\n".join(
    f"{new}: &{new} [*{old}, *{old}, *{old}]" for old, new in zip("abcdefgh", "bcdefghi", strict=True)
)

ONE_PROBLEM: dict[str, tuple[str | bytes, str]] = {
    "a tag": ("text: !!str x", "line 1: the tag 'tag:yaml.org,2002:str' is not allowed"),
    "a python tag": ("text: !!python/object/apply:os.system [id]", "line 1: the tag"),
    "a tag of one's own": ("a: 1\ninner: !mine {name: x}", "line 2: the tag '!mine' is not allowed"),
    "the empty tag": ("text: ! x", "line 1: the tag '!' is not allowed"),
    "a binary tag": ("text: !!binary aGk=", "line 1: the tag"),
    "an anchor": ("text: &here x", "line 1: anchors and aliases are not allowed"),
    "an alias": ("text: x\nwords: [*text]", "line 2: anchors and aliases are not allowed"),
    "an alias bomb": (BOMB, "line 1: anchors and aliases are not allowed"),
    "a key twice": ("count: 1\ncount: 2", "line 2: the key 'count' appears twice"),
    "a quoted key twice": ('count: 1\n"count": 2', "line 2: the key 'count' appears twice"),
    "a nested key twice": ("table: {a: x, a: y}", "line 1: the key 'a' appears twice"),
    "a second document": ("text: x\n---\ntext: y", "line 2: expected one document, found a second"),
    "a merge key": ("<<: {text: x}", "<<: unknown key; known here: text, count"),
    "a merge key in a table": ("table:\n  <<: {a: b}", "table.<<: expected text, found a mapping"),
    "no for a number": ("count: no", "count (line 1): expected a whole number, found 'no'"),
    "octal": ("count: 012", "count (line 1): expected a whole number, found '012'"),
    "hexadecimal": ("count: 0x10", "expected a whole number, found '0x10'"),
    "exponent": ("share: 1e3", "share (line 1): expected a number, found '1e3'"),
    "sexagesimal": ("count: 12:30:45", "expected a whole number, found '12:30:45'"),
    "underscores": ("count: 1_000", "expected a whole number, found '1_000'"),
    "infinity": ("share: .inf", "expected a number, found '.inf'"),
    "not a number": ("share: .nan", "expected a number, found '.nan'"),
    "a float for an int": ("count: 1.0", "expected a whole number, found '1.0'"),
    "a boolean for an int": ("count: true", "expected a whole number, found 'true'"),
    "an int for a boolean": ("on: 1", "on (line 1): expected true or false, found '1'"),
    "yes for a boolean": ("on: yes", "expected true or false, found 'yes'"),
    "True for a boolean": ("on: True", "expected true or false, found 'True'"),
    "a quoted boolean": ('on: "true"', "expected true or false, found 'true'"),
    "a quoted number": ('count: "1"', "expected a whole number, found '1'"),
    "a number too long": (f"count: {'9' * 20}", "expected a whole number, found '9999"),
    "arabic digits": ("count: \u0661", "expected a whole number"),
    "nothing for a number": ("count:", "count (line 1): expected a whole number, found ''"),
    "a list for text": ("text: [a]", "text: expected text, found a list of 1"),
    "a mapping for text": ("text: {a: b}", "text: expected text, found a mapping"),
    "text for a list": ("words: a", "words (line 1): expected a list, found 'a'"),
    "a list for a mapping": ("table: [a]", "table: expected a mapping, found a list of 1"),
    "three of a pair": ("pair: [1, 2, 3]", "pair: expected a list of 2, found a list of 3"),
    "a word in a pair": ("pair: [1, x]", "pair[1] (line 1): expected a number, found 'x'"),
    "an unknown word": ("colour: green", "colour (line 1): expected one of red, blue, found 'green'"),
    "an unknown key": ("txt: x", "txt: unknown key; known here: text, count"),
    "an unknown nested key": ("inner: {name: x, nme: y}", "inner.nme: unknown key; known here: name"),
    "a missing key": ("inner: {}", "inner.name: missing"),
    "an unwanted list": ("- text", "the file: expected a mapping, found a list of 1"),
    "a bare word": ("hello", "the file (line 1): expected a mapping, found 'hello'"),
    "an empty file": ("", "the file: expected a mapping, found nothing"),
    "a key that is a list": ("[a]: b", "line 1: expected a word as key"),
    "a key that is a mapping": ("{a: b}: c", "line 1: expected a word as key"),
    "bad syntax": ("text: [a", "not YAML: "),
    "a tab as indent": ("inner:\n\tname: x", "not YAML: "),
    "not UTF-8": (b"text: \xff\xfe", "expected UTF-8, found byte 0xff at 6"),
    "UTF-16": ("text: x".encode("utf-16"), "expected UTF-8, found byte 0xff at 0"),
    "a NUL": (b"text: a\0b", "not YAML: "),
    "an escape character": (b"text: a\x1b[31mb", "not YAML: "),
    "too many bytes": (b"# " + b"x" * 256_000, "expected at most 256000 bytes, found 256002"),
    "deep nesting": (f"words: {'[' * 100}{']' * 100}", "expected at most 12 levels"),
    "very deep nesting": ("words: " + "[" * 100_000, "nested too deep"),
}


@pytest.mark.parametrize("name", ONE_PROBLEM)
def test_one_clear_problem_for(name: str) -> None:
    text, problem = ONE_PROBLEM[name]
    with pytest.raises(Refused) as caught:
        load(text)
    assert caught.value.found.startswith(problem) or f": {problem}" in caught.value.found or problem in caught.value.found
    assert "\n" not in caught.value.found
    assert (caught.value.code, caught.value.where) == ("file-has-problems", "file.yaml")
    assert caught.value.where == "file.yaml"


def test_all_problems_come_together_in_the_order_of_the_schema() -> None:
    with pytest.raises(Refused) as caught:
        load("extra: 1\ncount: x\non: 2\ncolour: green\ninner: {}\nwords: [a, [b]]")
    assert caught.value.code == "file-has-problems"
    assert [line.split(" ")[0].rstrip(":") for line in caught.value.found.splitlines()] == [
        "extra",
        "count",
        "on",
        "colour",
        "words[1]",
        "inner.name",
    ]


def test_a_long_list_on_one_line_is_not_deep() -> None:
    words = [f"-DNAME_{i}=1" for i in range(60)]
    assert load(f"words: [{', '.join(words)}]").words == tuple(words)


def test_deep_nesting_over_many_lines_is_refused_and_does_not_end_the_process() -> None:
    program = """
import resource, sys
from expctl.adapters.codec import strict_yaml
from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Protocol
resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
try:
    strict_yaml.load(b"a: " + b"[\\n" * 30_000 + b"]\\n" * 30_000, Protocol, where="protocol.yaml")
except Refused:
    sys.exit(42)
"""
    answer = subprocess.run([sys.executable, "-c", program], capture_output=True)
    assert answer.returncode == 42, f"status {answer.returncode} (negative: a signal)"
