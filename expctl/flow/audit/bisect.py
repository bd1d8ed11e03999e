"""Find the kept change at which a recorded gain was lost, by binary search over the commits of the kept changes.

HEAD is compared with the commit before or after a change. A commit passes if HEAD is faster than it by the recorded gains of
the changes since, less the half-widths of their intervals and the loss that a simplification may have. The gain was lost at the
last change before the first commit that passes.
"""

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import OBJECTIVE
from expctl.domain.history.audit import Bisection, Probe
from expctl.domain.history.kept_changes import KeptChange, Promise, combined_promises
from expctl.flow.audit.commit_comparison import compare_commits
from expctl.flow.measuring.setup import Setup


def bisect(setup: Setup, first: str, layers: tuple[KeptChange, ...]) -> Bisection:
    """Find which of the kept changes `layers` lost a recorded gain; `first` is the commit before all of them. Compares HEAD
    with about log2(number of changes) commits, then measures the change found by itself. Raises Busy, Interrupted.
    """
    states = (first, *(layer.commit for layer in layers))
    probes = [_probe(setup, states, layers, 0)]
    if not probes[0].lost:
        return Bisection(probes=tuple(probes), stopped=probes[0].contest.fault)
    good, bad = 0, len(layers)  # the promise is broken from `good` on, and kept from `bad` on
    while bad - good > 1:
        middle = (good + bad) // 2
        probes.append(_probe(setup, states, layers, middle))
        if probes[-1].contest.fault:
            return Bisection(probes=tuple(probes), stopped=probes[-1].contest.fault)
        good, bad = (middle, bad) if probes[-1].lost else (good, middle)
    culprit = layers[bad - 1]
    own = compare_commits(setup, states[bad - 1], states[bad], name=f"{culprit.name} alone")
    promise = culprit.promises.get(OBJECTIVE, Promise())
    return Bisection(
        probes=tuple(probes), culprit=culprit.name, title=culprit.title, commit=culprit.commit, promise=promise, own=own
    )


def _probe(setup: Setup, states: tuple[str, ...], layers: tuple[KeptChange, ...], number: int) -> Probe:
    """Measure whether HEAD is as much faster than `states[number]` as the changes after it (`layers[number:]`) recorded. `lost`
    of the result is True only if the comparison shows a loss, not if it stays undecided.
    """
    nothing = {size.name: Promise() for size in setup.benchmark.sizes}
    promises = {**nothing, **combined_promises(layers[number:])}
    since = f"since {layers[number - 1].name if number else 'the start'}"
    found = compare_commits(setup, states[number], setup.head, name=since, promises=promises)
    lost = found.verdict is Verdict.REJECT
    return Probe(layers=number, promise=promises.get(OBJECTIVE, Promise()), lost=lost, contest=found)
