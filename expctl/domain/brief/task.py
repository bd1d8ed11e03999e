"""What a coding agent is asked to do: the task and the brief, as one text. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.brief.proposing import FIELDS, NEEDED
from expctl.domain.text import one_line, plain_text

if TYPE_CHECKING:
    from expctl.domain.protocol.proposer import Refusal

WORDS_FILE = "proposal.yaml"
USAGE_FILE = "usage.json"
REFUSED_MAX = 600


class Task(Struct, frozen=True, kw_only=True):
    """What an agent is asked for: a change of files below `scope`, as experiment `next_id`. `watched` are the paths of which an
    edit is seen: the scope, and what judges it. `brief` is the text of the brief.
    """

    brief: str
    scope: tuple[str, ...]
    watched: tuple[str, ...]
    next_id: str

    def text(self, scratch: str, refused: Sequence[Refusal]) -> str:
        """Return what the agent reads: what to leave where (`scratch`), what was refused of its last calls, then the brief."""
        return "\n".join([*_task(self.scope, self.next_id, scratch), *_refused(refused), "", self.brief])


def _task(scope: Sequence[str], next_id: str, scratch: str) -> Iterator[str]:
    fields = [f"{name} ({FIELDS[name]})" for name in list(FIELDS)[1:]]
    yield "# Task"
    yield ""
    yield f"You are in a scratch check-out of a kernel. Propose ONE change to it, experiment {next_id}, and leave two things:"
    yield ""
    yield f"1. the change itself, as edits of files below {', '.join(scope)} here. Nothing else that you write here is taken."
    needed, more = ", ".join(fields[: NEEDED - 1]), "; ".join(fields[NEEDED - 1 :])
    yield f"2. the file {scratch}/{WORDS_FILE}, with the keys {needed}; also allowed: {more}."
    yield ""
    yield "Commit nothing, time nothing, ask nobody. Without an idea that is not ruled out below, leave no edit and no file."
    yield f'If you can tell what this call has cost, leave {scratch}/{USAGE_FILE}: {{"tokens": 12345, "money": 0.12}}.'


def _refused(refused: Sequence[Refusal]) -> Iterator[str]:
    if refused:
        yield ""
        yield "# Refused of your last calls"
        yield ""
    for each in refused:
        said = "; ".join(filter(None, (each.refused, each.found, each.next)))
        yield f"- {plain_text(one_line(said, REFUSED_MAX))}"
