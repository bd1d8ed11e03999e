"""Find the kept change that lost a recorded gain, by binary search over the commits of the stack.

A state keeps its promise if HEAD is as much faster than it as the records of later changes say, less their intervals and the
budget of a simplification. The culprit is the last change before the first state that keeps its promise.
"""

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.history.audit import Bisection, Probe
from expctl.domain.history.kept_changes import KeptChange, Promise, combined_promises
from expctl.flow.audit.commit_comparison import Comparator, compare_commits


def bisect(comparator: Comparator, first: str, layers: tuple[KeptChange, ...]) -> Bisection:
    """Search from `first`, the commit before all kept changes (`layers`), to HEAD; finally compare the culprit alone."""
    states = (first, *(layer.commit for layer in layers))
    probes = [_probe(comparator, states, layers, 0)]
    if not probes[0].lost:
        return Bisection(probes=tuple(probes), stopped=probes[0].contest.fault)
    good, bad = 0, len(layers)  # the promise is broken from `good` on, and kept from `bad` on
    while bad - good > 1:
        middle = (good + bad) // 2
        probes.append(_probe(comparator, states, layers, middle))
        if probes[-1].contest.fault:
            return Bisection(probes=tuple(probes), stopped=probes[-1].contest.fault)
        good, bad = (middle, bad) if probes[-1].lost else (good, middle)
    culprit = layers[bad - 1]
    own = compare_commits(comparator, states[bad - 1], states[bad], name=f"{culprit.name} alone")
    return Bisection(
        probes=tuple(probes),
        culprit=culprit.name,
        title=culprit.title,
        commit=culprit.commit,
        promise=culprit.promises.get(OBJECTIVE, Promise()),
        own=own,
    )


def _probe(comparator: Comparator, states: tuple[str, ...], layers: tuple[KeptChange, ...], number: int) -> Probe:
    """Measure whether the kept changes after the first `number` keep their promise. An undecided comparison shows no loss."""
    nothing = {size.name: Promise() for size in comparator.benchmark.sizes}
    promises = {**nothing, **combined_promises(layers[number:])}
    found = compare_commits(
        comparator,
        states[number],
        comparator.head,
        name=f"since {layers[number - 1].name if number else 'the start'}",
        promises=promises,
    )
    lost = found.verdict is Verdict.REJECT
    return Probe(layers=number, promise=promises.get(OBJECTIVE, Promise()), lost=lost, contest=found)
