"""Gathering what the brief says. Takes no lock and reads commits only, so it works during a run."""

from collections.abc import Mapping, Sequence
from typing import Protocol as Port

from expctl.domain.brief import Brief, Known, brief_of
from expctl.domain.calibration import Calibration
from expctl.domain.digest import Digest, baseline_of, in_order, seen_noise, standing
from expctl.domain.epochs import epochs_from
from expctl.domain.experiment import Proposal
from expctl.domain.ledger_baseline import Baseline
from expctl.domain.noise import Calibrated
from expctl.domain.ports import Calibrations, Library
from expctl.domain.protocol import Protocol
from expctl.flow.status import epochs_now

PROPOSALS_MAX = 40  # read of a long queue: more would not fit into the brief


class Digests(Port):
    """Every record as a digest, and the ids of proposals that have no verdict."""

    def all(self, commit: str) -> tuple[Digest, ...]: ...  # noqa: D102
    def waiting(self, commit: str) -> tuple[str, ...]: ...  # noqa: D102
    def proposals(self, commit: str, ids: Sequence[str]) -> tuple[Proposal, ...]: ...  # noqa: D102


def brief_here(
    library: Library, digests: Digests, calibrations: Calibrations, *, head: str, machine: Mapping[str, str], words_max: int
) -> Brief:
    """The brief of the repository at `head`. Of records, only those that show a baseline are read whole."""
    protocol = library.protocol(head)
    found = in_order(digests.all(head))
    epochs = epochs_from(each for digest in found for each in digest.measurings)
    waiting = _in_turn(library, head, digests.waiting(head))
    now = epochs_now(library, protocol, head, epochs, machine)
    known = Known(
        protocol=protocol,
        head=head,
        digests=found,
        epochs=epochs,
        baselines=_baselines(library, head, found),
        calibrated={name: noise for name in protocol.decides if (noise := _calibrated(calibrations, protocol, name))},
        seen={name: shown for name in protocol.decides if (shown := seen_noise(name, found, epochs))},
        begins={each.target: each.begins for each in now if not each.since},
        findings=library.findings(head),
        proposals=digests.proposals(head, waiting[:PROPOSALS_MAX]),
        queued=len(waiting),
    )
    return brief_of(known, words_max=words_max)


def _in_turn(library: Library, head: str, waiting: Sequence[str]) -> tuple[str, ...]:
    """What was not withdrawn, by priority; whether conditions hold is not looked at, their words are in the brief."""
    tickets = {name: filing.ticket for name, filing in library.filings(head, waiting).items()}
    kept = [(name, ticket) for name, ticket in tickets.items() if ticket is None or not ticket.withdrawn]
    return tuple(name for name, _ in sorted(kept, key=lambda each: -each[1].priority if each[1] else 0))


def _baselines(library: Library, head: str, digests: Sequence[Digest]) -> tuple[Baseline, ...]:
    found = []
    for target, digest in sorted(standing(digests).items()):
        record = library.record(head, digest.id)
        if record is not None:
            found.append(baseline_of(target, record, digests))
    return tuple(found)


def _calibrated(calibrations: Calibrations, protocol: Protocol, target: str) -> Calibrated | None:
    benchmark = protocol.targets[target].benchmark
    found = calibrations.read(target, benchmark) if benchmark else None
    return found.fixed() if isinstance(found, Calibration) else None
