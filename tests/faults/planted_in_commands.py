"""Planted defects in commands other than `run`: what a command that is typed again has to know of the one that was killed."""

from pathlib import Path
from typing import Any

from expctl.domain.errors import Refused
from expctl.files import atomic_write
from expctl.flow import import_ledger
from expctl.flow.audit import edit_findings
from expctl.flow.queue import edit_queue, next_free
from expctl.flow.tuning import tune
from expctl.imported.ids import assign_ids
from expctl.suite import resume
from tests.faults.planted_defects import defect, instead


def _nothing(*_: object, **__: object) -> None:
    return None


def _refusal() -> Refused:
    return Refused("this was done already", code="done-already", expected="nothing", found="it", hint="do nothing")


@defect("the same new is not known")
def _() -> None:
    instead(next_free, "queued_before", _nothing)


@defect("the same withdrawal is not known")
def _() -> None:
    change = edit_queue._change
    instead(edit_queue, "_change", lambda *words: change(*words[:4]))


@defect("the same finding is not known")
def _() -> None:
    instead(edit_findings, "alike", _nothing)


@defect("the same mark is not known")
def _() -> None:
    mark = edit_findings._mark

    def once(*words: Any) -> edit_findings.Noted:
        noted = mark(*words)
        if not noted.commit:
            raise _refusal()
        return noted

    instead(edit_findings, "_mark", once)


@defect("rows that were imported are not known")
def _() -> None:
    instead(import_ledger, "assign_ids", lambda entries, file, _, taken, **rest: assign_ids(entries, file, (), taken, **rest))


@defect("a suite does not go on")
def _() -> None:
    def refuse(results: Path, environment: Path, *_: object) -> tuple[()]:
        if results.exists() or environment.exists():
            raise _refusal()
        return ()

    instead(resume, "timed_before", refuse)


@defect("a tuning that landed is not known")
def _() -> None:
    instead(tune, "_landed", _nothing)


@defect("what a killed write left stays")
def _() -> None:
    instead(atomic_write, "replace_for_user", atomic_write.replace)


@defect("files for agents are written in place")
def _() -> None:
    def in_place(path: Path, contents: bytes) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(contents)

    instead(atomic_write, "replace_for_user", in_place)
