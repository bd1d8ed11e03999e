"""Check whether a proposal may run now: unchanged since it was queued, not withdrawn, all dependencies met."""

from collections.abc import Iterable, Mapping

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.protocol.model import Protocol
from expctl.domain.queue.dependency_answer import Truth, fault_of
from expctl.domain.queue.depends_on import comparisons, parse
from expctl.domain.queue.ordering import Entry, State
from expctl.domain.queue.pending import Queue


def check_conditions(proposal: Proposal, protocol: Protocol) -> None:
    """Raise Refused if a condition of `depends_on` names the proposal itself, or a figure that no result can have."""
    benchmarks = [target.benchmark for target in protocol.targets.values() if target.benchmark is not None]
    sizes = tuple(dict.fromkeys(size.name for benchmark in benchmarks for size in benchmark.sizes))
    faults = []
    for text in proposal.depends_on:
        for each in comparisons(parse(text)):
            itself = each.experiment == proposal.id
            fault = "it waits for itself" if itself else fault_of(each, sizes, tuple(protocol.targets))
            faults += [f"{text}: {fault}"] if fault else []
    if faults:
        raise Refused(
            f"{proposal.id} depends on something that no result can have",
            code="dependency-unanswerable",
            expected="conditions such as P15, P15.verdict == REJECT or P15.build.vgpr <= 128",
            found="\n".join(faults),
            where=f"experiments/{proposal.id}/experiment.yaml, depends_on",
            hint="docs/QUEUE.md of expctl lists what can be asked",
        )


def check_circle(proposal: Proposal, waiting: Iterable[Proposal]) -> None:
    """Raise Refused if `proposal` would wait for itself, through the `depends_on` of the queued proposals `waiting`."""
    asked = {each.id: _asked(each) for each in (*waiting, proposal)}
    line, found = [proposal.id], {proposal.id: ""}
    for name in line:
        for other in asked.get(name, ()):
            if other == proposal.id:
                raise Refused(
                    f"{proposal.id} would wait for itself, through other experiments",
                    code="dependency-circle",
                    expected="conditions on experiments that don't wait for it",
                    found=" waits for ".join((*_way(found, name), proposal.id)),
                    where=f"experiments/{proposal.id}/experiment.yaml, depends_on",
                    hint=f"leave the condition out, or expctl withdraw {name} --why WHY first",
                )
            if other not in found:
                found[other] = name
                line.append(other)


def _asked(proposal: Proposal) -> tuple[str, ...]:
    return tuple(dict.fromkeys(each.experiment for text in proposal.depends_on for each in comparisons(parse(text))))


def _way(found: Mapping[str, str], name: str) -> tuple[str, ...]:
    """Return the ids on the path that leads to `name`; `found` maps each id to the one before it."""
    before = found[name]
    return (*_way(found, before), name) if before else (name,)


def check_binding(queued: Queued) -> None:
    """Raise Refused if the proposal has changed since it was queued, or was withdrawn."""
    name, ticket = queued.proposal.id, queued.ticket
    if ticket is None:
        return
    if ticket.content != queued.content:
        raise Refused(
            f"{name} was changed after it was queued",
            code="proposal-differs-from-queued",
            expected=f"the proposal that was queued on {ticket.base[:10]}: an id is bound to its content",
            found="another experiment.yaml or change.patch",
            where=f"experiments/{name}",
            hint=f"restore it (git log -- experiments/{name} has the commit), or propose the change under a new id:"
            f" expctl new --patch experiments/{name}/change.patch",
        )
    if ticket.withdrawn:
        raise Refused(
            f"{name} was withdrawn",
            code="proposal-withdrawn",
            expected="a proposal that is still queued",
            found=ticket.withdrawn,
            where=f"experiments/{name}/queued.json",
            hint=f"propose it again under a new id: expctl new --patch experiments/{name}/change.patch",
        )


def check_eligible(queue: Queue, experiment: str) -> None:
    """Raise Refused if a condition in the experiment's `depends_on` doesn't hold yet, or never will."""
    entry = next((each for each in queue.entries() if each.id == experiment), None)
    if entry is None:
        return
    waits_for = [text for text, found in entry.answers if found.truth is Truth.OPEN]
    if entry.state is State.SKIPPED:
        raise _not_met(entry, f"{experiment} is skipped: {entry.why}", f"expctl withdraw {experiment} --why WHY")
    if waits_for:
        first = comparisons(parse(waits_for[0]))[0].experiment
        raise _not_met(entry, f"{experiment} waits for other experiments", f"expctl run {first}")


def _not_met(entry: Entry, message: str, hint: str) -> Refused:
    missing = [(text, found) for text, found in entry.answers if found.truth is not Truth.HOLDS]
    return Refused(
        message,
        code="dependency-not-met",
        expected="; ".join(text for text, _ in missing),
        found="; ".join(found.why for _, found in missing),
        where=f"experiments/{entry.id}/experiment.yaml, depends_on",
        hint=hint,
    )
