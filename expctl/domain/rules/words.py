"""What can be checked of a rule that was kept in words alone: an instruction that it names, and where. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from expctl.domain.patch.constants import plain_values

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Rule
    from expctl.domain.rules.meaning import CompiledChange

_INSTRUCTION = re.compile(r"\b((?:s|v|ds|global|buffer|flat|scratch)_[a-z]\w+(?: \d+)?)(?!\w)")
_REGION = re.compile(r"\b(?:in|from|of) the (\w+) (?:phase|loop|function)\b")
_TUPLE = re.compile(r"\b\d+(?: , \d+)+\b")
_ASM = re.compile(r"\b(?:__)?asm(?:__)?\b")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')
_WRITTEN = re.compile(r"^\s*((?:s|v|ds|global|buffer|flat|scratch)_[a-z]\w+)\s*(.*?)\s*$")
_ENCODING = re.compile(r"^v_|_(?:e32|e64|dpp|sdwa)$")
_REMOVED = re.compile(r"\b(?:[Rr]emov|[Dd]rop|[Dd]elet|[Ww]ithout )")


class CheckedWords(NamedTuple):
    """An `instruction`, with its operands where the rule names them, that a change may not add (or, `removed`, take away) in
    source functions called `region` ("": anywhere).
    """

    instruction: str
    region: str
    removed: bool

    def __str__(self) -> str:
        where = f" in a function {self.region}" if self.region else ""
        return f"`{self.instruction}` {'taken away' if self.removed else 'added'}{where}"


def checked_words(rule: Rule) -> CheckedWords | None:
    """Return what is checked of a rule without a patch; None if its text names no instruction, or a patch says more."""
    found = _INSTRUCTION.search(rule.text) if not rule.patch_id else None
    if found is None or "__builtin" in rule.text:
        return None
    region = _REGION.search(rule.text)
    return CheckedWords(found[1], region[1] if region else "", bool(_REMOVED.search(rule.text)))


def says(words: CheckedWords, change: CompiledChange) -> bool:
    """Does a change, compiled with regions, do what the words forbid?"""
    before, after = (_count(words, side.parts) for side in (change.before, change.after))
    return after < before if words.removed else after > before


def _count(words: CheckedWords, parts: Mapping[str, Mapping[str, int]]) -> int:
    wanted = f"{words.instruction} "
    return sum(
        count
        for region, counts in parts.items()
        if words.region in ("", region.partition("<")[0])
        for name, count in counts.items()
        if f"{name} ".startswith(wanted)
    )


def tuples_alone(settings: Mapping[str, str], statements: Iterable[str]) -> bool:
    """Are the tuples of numbers in `settings` the only ones of their lengths in preprocessed statements that a change adds?
    `0x4` is 4.
    """
    wanted = {tuple(value.replace(" ", "").split(",")) for value in settings.values() if "," in value}
    if not wanted:
        return False
    lengths = {len(each) for each in wanted}
    found = {
        numbers
        for text in statements
        for match in _TUPLE.finditer(plain_values({"": text})[""])
        if len(numbers := tuple(match[0].replace(" ", "").split(","))) in lengths
    }
    return found == wanted


def assembly_as_builtins(statements: Iterable[str]) -> Iterator[str]:
    """Yield the instructions of inline assembly in preprocessed statements as calls of the builtins of their names on AMD's
    GPUs: `__builtin_amdgcn_s_setprio ( 2 )` for "s_setprio 2". A builtin that is called otherwise is not found.
    """
    for text in statements:
        if _ASM.search(text):
            for string in _STRING.findall(text):
                for line in re.split(r"\\[nrt]", string):
                    found = _WRITTEN.match(line)
                    if found:
                        yield f"__builtin_amdgcn_{_ENCODING.sub('', found[1])} ( {found[2]} )"
