"""Read the records that last timed each target, with their absolute times even where they are older than these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

from expctl.domain.errors import Refused

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.ports.repository import Library


def standing_records(library: Library, commit: str, ids: Iterable[str]) -> Mapping[str, Record]:
    """Return these records of a commit by id, each with its times by state of the machine. Raises Refused if unreadable."""
    return {name: with_times(library, commit, record) for name, record in library.some_records(commit, ids).items()}


def with_times(library: Library, commit: str, record: Record) -> Record:
    """Return `record`; if it was timed and lacks times by state of the machine, with those that its samples give.

    Replications stay as they are, and so does a record whose samples can't be read: `expctl replay` says what is wrong.
    """
    if record.times or not record.estimates:
        return record
    from expctl.domain.verdict.machine_states import last_session, times_by_state
    from expctl.domain.verdict.samples import MalformedRound

    try:
        samples = library.read_samples(commit, record.id)
        return replace(record, times=times_by_state(samples, last_session(samples)))
    except (MalformedRound, Refused):
        return record
