"""Parser of the conditions of `depends_on`: `P15`, `P15.verdict == REJECT`, `P15.build.vgpr <= 128 or P7`.

    condition  = alternative {"or" alternative}
    alternative = part {"and" part}
    part       = "(" condition ")" | comparison
    comparison = ID                                 means ID.verdict == KEEP
               | ID "." name {"." name} operator value
    operator   = "==" | "!=" | "<" | "<=" | ">" | ">="

A name or value that isn't one word is put in double quotes. There is no `not`: the opposite operator says the same. A
comparison with a figure that isn't known is never true.
"""

import re
from enum import StrEnum

from msgspec import Struct

from expctl.domain.experiment.ids import ID_PATTERN
from expctl.domain.experiment.proposal import Verdict

NESTING_MAX = 20
LENGTH_MAX = 500
TOKEN = re.compile(
    r"\s*(?:(?P<operator>==|!=|<=|>=|<|>)"
    r"|(?P<bracket>[()])"
    r"|(?P<number>[-+]?\d+(?:\.\d+)?(?![\w.]))"
    r'|(?P<quoted>"[^"]*")'
    r'|(?P<word>[A-Za-z][A-Za-z0-9_-]*(?:\.(?:[A-Za-z0-9_][A-Za-z0-9_-]*|"[^"]*"))*))',
    re.ASCII,
)
NAME = re.compile(r'[^."]+|"[^"]*"')


class Operator(StrEnum):
    """Comparison operators of conditions. Words can only be compared by == and !=."""

    EQUAL = "=="
    UNEQUAL = "!="
    LESS = "<"
    AT_MOST = "<="
    MORE = ">"
    AT_LEAST = ">="


class Unparsable(ValueError):
    """Raised if a text is not a condition. The message says what was expected, what was found, and where."""


class Comparison(Struct, frozen=True):
    """One comparison with an experiment's result. For `P15.build.vgpr <= 128`, `names` are (build, vgpr)."""

    experiment: str
    names: tuple[str, ...]
    operator: Operator
    value: str | float

    def __str__(self) -> str:
        left = ".".join((self.experiment, *(_spelt(name) for name in self.names)))
        value = _spelt(self.value) if isinstance(self.value, str) else f"{self.value:.12g}"
        return f"{left} {self.operator} {value}"


class AllOf(Struct, frozen=True):
    """A condition that holds when all its parts hold."""

    parts: tuple["Condition", ...]


class AnyOf(Struct, frozen=True):
    """A condition that holds when at least one of its parts holds."""

    parts: tuple["Condition", ...]


Condition = Comparison | AllOf | AnyOf


def parse(text: str) -> Condition:
    """Parse a condition of `depends_on`. Raises Unparsable with the column of the mistake."""
    if len(text) > LENGTH_MAX:
        raise Unparsable(f"expected at most {LENGTH_MAX} characters, found {len(text)}")
    reader = _Reader(text)
    condition = reader.condition(0)
    reader.expect_end()
    return condition


def comparisons(condition: Condition) -> tuple[Comparison, ...]:
    """Return all comparisons in a condition, from left to right."""
    if isinstance(condition, Comparison):
        return (condition,)
    return tuple(found for part in condition.parts for found in comparisons(part))


class _Reader:
    def __init__(self, text: str) -> None:
        self._text, self._tokens, self._next = text, _tokens(text), 0

    def condition(self, depth: int) -> Condition:
        if depth > NESTING_MAX:
            raise Unparsable(f"expected at most {NESTING_MAX} brackets inside each other")
        parts = [self._alternative(depth)]
        while self._take("or"):
            parts.append(self._alternative(depth))
        return parts[0] if len(parts) == 1 else AnyOf(tuple(parts))

    def expect_end(self) -> None:
        if self._next < len(self._tokens):
            raise self._unexpected("and, or, or the end")

    def _alternative(self, depth: int) -> Condition:
        parts = [self._part(depth)]
        while self._take("and"):
            parts.append(self._part(depth))
        return parts[0] if len(parts) == 1 else AllOf(tuple(parts))

    def _part(self, depth: int) -> Condition:
        if self._take("("):
            inner = self.condition(depth + 1)
            if not self._take(")"):
                raise self._unexpected("a closing bracket")
            return inner
        kind, word = self._peek()
        experiment, *names = (found.strip('"') for found in NAME.findall(word)) if kind == "word" else ("",)
        if not ID_PATTERN.fullmatch(experiment):
            raise self._unexpected("an experiment id such as P15")
        self._next += 1
        if not names:
            return Comparison(experiment, ("verdict",), Operator.EQUAL, Verdict.KEEP.value)
        kind, sign = self._peek()
        if kind != "operator":
            raise self._unexpected(f"one of {', '.join(Operator)} after {word}")
        self._next += 1
        return Comparison(experiment, tuple(names), Operator(sign), self._value())

    def _value(self) -> str | float:
        kind, word = self._peek()
        if kind not in ("number", "quoted", "word"):
            raise self._unexpected("a number or a word")
        self._next += 1
        return float(word) if kind == "number" else word.strip('"')

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._next][:2] if self._next < len(self._tokens) else ("end", "")

    def _take(self, word: str) -> bool:
        found = self._peek()[1] == word
        self._next += found
        return found

    def _unexpected(self, expected: str) -> Unparsable:
        kind, word = self._peek()
        column = self._tokens[self._next][2] if kind != "end" else len(self._text) + 1
        return Unparsable(f"column {column}: expected {expected}, found {repr(word[:40]) if word else 'the end'}")


def _tokens(text: str) -> list[tuple[str, str, int]]:
    """Split a condition into (kind, text, column counted from 1). Raises Unparsable."""
    found, position, end = [], 0, len(text.rstrip())
    while position < end:
        match = TOKEN.match(text, position)
        if match is None or match.lastgroup is None:
            rest = text[position:].lstrip()
            wanted = _meant(rest)
            raise Unparsable(f"column {len(text) - len(rest) + 1}: expected {wanted}, found {rest[:20]!r}")
        found.append((match.lastgroup, match[match.lastgroup], match.start(match.lastgroup) + 1))
        position = match.end()
    return found


def _meant(rest: str) -> str:
    if rest[0] == "=":
        return "== for 'is equal to'"
    if re.match(r"[-+]?\.?\d", rest):
        return "a finite number such as 1.5, without an exponent"
    return "a condition"


def _spelt(word: str) -> str:
    return word if re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", word, re.ASCII) else f'"{word}"'
