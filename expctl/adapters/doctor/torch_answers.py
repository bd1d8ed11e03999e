"""Asks torch, in a child with a time limit: what it says of itself, and where a program leaves its compiled graph."""

import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from expctl.domain.environment.snapshot import GraphBreak, TorchFacts
from expctl.domain.environment.torch_settings import STOCK
from expctl.launcher.captured import Output, Timeout, captured

CHILD = Path(__file__).with_name("ask_torch.py")
ANSWERS_S = 120.0
PROGRAM_S = 1800.0  # a first compilation may take 15 minutes
BREAK = re.compile(r"Graph break in user code at (.+:\d+)$")
LOG_PREFIX = re.compile(r"^.*?\[__graph_breaks\] ?")
REASON = "Reason: "
NO_REASON = "Encountered graph break"  # a heading since torch 2.8; the reason follows


def torch_facts(python: str, variables: Mapping[str, str], program: Sequence[str], root: Path) -> TorchFacts:
    """Return what the torch of the interpreter `python` says. The command line `program`, a Python file and its arguments, is
    run in `root` to find its graph breaks; () for none. Whatever fails or doesn't end is told as `trouble`.
    """
    facts = TorchFacts()
    try:
        said = captured([python, str(CHILD), *STOCK], timeout_s=ANSWERS_S, environment=variables)
        facts = msgspec.json.decode(_last_line(said), type=TorchFacts)
        return _with_breaks(facts, python, variables, program, root) if program else facts
    except (OSError, Timeout, ValueError) as error:
        return replace(facts, trouble=str(error))


def _with_breaks(
    facts: TorchFacts, python: str, variables: Mapping[str, str], program: Sequence[str], root: Path
) -> TorchFacts:
    logged = {**variables, "TORCH_LOGS": "graph_breaks"}
    said = captured([python, *program], timeout_s=PROGRAM_S, environment=logged, cwd=root)
    if said.status:
        raise ValueError(f"{shlex.join(program)} ended with status {said.status}: {_error(said)}")
    return replace(facts, script=shlex.join(program), breaks=tuple(dict.fromkeys(graph_breaks(said.err))))


def _last_line(said: Output) -> str:
    if said.status or not said.out.strip():
        raise ValueError(f"torch does not answer: {_error(said)}")
    return said.out.strip().splitlines()[-1]


def _error(said: Output) -> str:
    return (said.err.strip().splitlines() or [f"status {said.status}"])[-1][:200]


def graph_breaks(log: str) -> Iterator[GraphBreak]:
    """Yield the graph breaks in what torch logs with TORCH_LOGS=graph_breaks, each with the first words of its reason."""
    place = reason = ""
    for line in (LOG_PREFIX.sub("", each).strip() for each in log.splitlines()):
        if found := BREAK.search(line):
            yield from _break(place, reason)
            place, reason = found[1], ""
        elif line.startswith("User code traceback"):
            yield from _break(place, reason)
            place = ""
        elif place and not reason:
            text = line.partition(REASON)[2] or line
            reason = "" if text.startswith(NO_REASON) else text
    yield from _break(place, reason)


def _break(place: str, reason: str) -> Iterator[GraphBreak]:
    if place:
        yield GraphBreak(place=place, reason=reason or "no reason given")
