"""What a tool answers: one type each, from which its schema is made; and how foreign text in an answer is made harmless."""

import json
from collections.abc import Mapping
from typing import Any

from msgspec import Struct, to_builtins

from expctl.domain.errors import Refused
from expctl.domain.text import is_unseen, one_line

LETTERS_MAX = 200_000
CUT = "… (cut)"


class Answer(Struct, frozen=True, kw_only=True):
    """What all answers are: facts on the repository, none of them evidence."""


class BriefAnswer(Answer, frozen=True, kw_only=True):
    """The brief as text; verdict -> number; the next free id."""

    head: str
    text: str
    verdicts: dict[str, int]
    next_id: str


class StatusAnswer(Answer, frozen=True, kw_only=True):
    """The facts of `expctl status`."""

    name: str
    branch: str
    head: str
    baselines: list[dict[str, Any]]
    running: list[dict[str, Any]]
    queue: list[dict[str, Any]]
    last: list[dict[str, Any]]
    debts: list[str]
    blocking: list[dict[str, Any]]
    target: str


class ShowAnswer(Answer, frozen=True, kw_only=True):
    """One experiment: `state` is queued or concluded, `verdict` "" while it is queued, `facts` are its proposal or record."""

    id: str
    title: str
    state: str
    verdict: str
    text: str
    facts: dict[str, Any]


class RulesAnswer(Answer, frozen=True, kw_only=True):
    """Whether a do-not-repeat rule refuses a patch: `matches` hold rule, level, likeness, reasons, changed conditions;
    `near` are rejected experiments that it is close to, in percent; `misfits` are files that the patch doesn't fit.
    """

    refused: bool
    matches: list[dict[str, Any]]
    near: list[dict[str, Any]]
    misfits: list[str]


class TryAnswer(Answer, frozen=True, kw_only=True):
    """How far a change comes without being timed, as `expctl try` says it."""

    passes: bool
    target: str
    files: list[str]
    builds: list[str]
    would_end: str | None
    reasons: list[str]
    rules: list[dict[str, Any]]
    untested: list[str]
    unavailable: list[str]


class ProposeAnswer(Answer, frozen=True, kw_only=True):
    """A queued proposal, its commit and the files that its patch changes."""

    id: str
    title: str
    commit: str
    files: list[str]


class RunAnswer(Answer, frozen=True, kw_only=True):
    """How a run ended. The record is in the commit `head`; `measured` is False if there was one before."""

    id: str
    verdict: str
    reasons: list[str]
    branch: str
    head: str
    measured: bool


class ProfileDiffAnswer(Answer, frozen=True, kw_only=True):
    """What changed between two profiles, and in one sentence why."""

    before: dict[str, Any]
    after: dict[str, Any]
    pairs: list[dict[str, Any]]
    why: dict[str, Any] | None
    why_not: str | None


class CheckAnswer(Answer, frozen=True, kw_only=True):
    """What the interpreter found. Without a launch: the kernels of the file and a launch description as `proposal`."""

    findings: list[dict[str, Any]]
    notes: list[str]
    launches: int
    kernels: list[dict[str, Any]]
    proposal: str


class FindingAnswer(Answer, frozen=True, kw_only=True):
    """A finding and the commit that added it, "" if it was known."""

    id: str
    text: str
    commit: str


def plain(value: object) -> Any:
    """Return an answer as plain data in which no text obeys to a terminal: characters that aren't seen are spelled out, and
    what is longer than LETTERS_MAX is cut.
    """
    return _plain(to_builtins(value))


def text_of(answer: Answer, facts: Mapping[str, Any]) -> str:
    """Return an answer for a client that reads text alone: its own text, where it has one, else its facts as JSON."""
    own = facts.get("text") if isinstance(answer, BriefAnswer | ShowAnswer) else None
    return own if isinstance(own, str) else json.dumps(facts, indent=1, ensure_ascii=False)


def error_text(refusal: Refused) -> str:
    """Return a refusal as an agent reads it: what is wrong, what was expected and found, where, what to do next."""
    lines = [f"Error [{refusal.code}]: {one_line(refusal.message, 1000)}"]
    said = {"expected": refusal.expected, "found": refusal.found, "where": refusal.where, "next": refusal.hint}
    for label, text in said.items():
        lines += [f"  {label if index == 0 else '':<9} {one_line(line, 1000)}" for index, line in enumerate(text.splitlines())]
    return "\n".join(lines)


def _plain(value: Any) -> Any:
    if isinstance(value, str):
        return spelled(value)
    if isinstance(value, Mapping):
        return {spelled(str(name)): _plain(each) for name, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list | tuple) else value


def spelled(text: str) -> str:
    """Return `text` with each character that isn't seen, line ends and tabs excepted, as its escape: \\x1b."""
    return spelled_whole(text if len(text) <= LETTERS_MAX else text[:LETTERS_MAX] + CUT)


def spelled_whole(text: str) -> str:
    """Return the same, of any length."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(repr(each)[1:-1] if each not in "\n\t" and is_unseen(each) else each for each in text)
