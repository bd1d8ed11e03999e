"""Read the records that last timed each target, with their absolute times even where they are older than these."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.ports.repository import Library


def standing_records(library: Library, commit: str, ids: Iterable[str]) -> Mapping[str, Record]:
    """Return these records of a commit by id, each with its times by state of the machine. Raises Refused if unreadable."""
    return {name: with_times(library, commit, record) for name, record in library.some_records(commit, ids).items()}


def with_times(library: Library, commit: str, record: Record) -> Record:
    """Return `record`; if it was timed and lacks times by state of the machine, with those that its samples give.

    Replications stay as they are. Raises Refused for samples that can't be read.
    """
    if record.times or not record.estimates:
        return record
    from expctl.domain.verdict.machine_states import last_session, times_by_state
    from expctl.domain.verdict.samples import MalformedRound

    samples = library.read_samples(commit, record.id)
    try:
        return replace(record, times=times_by_state(samples, last_session(samples)))
    except MalformedRound:  # `expctl replay` says what is wrong with them
        return record
