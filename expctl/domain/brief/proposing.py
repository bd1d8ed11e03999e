"""The section of the brief that says how to propose: the next id, the fields of experiment.yaml, how to try a change first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from expctl.domain.brief.word_limit import Section
from expctl.domain.experiment.proposal import Kind, Mode, Verdict

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol

EXPECTED = tuple(each for each in Verdict if each is not Verdict.INVALID)
FIELDS = {
    "id": "the next free one, as the folder is called",
    "title": "one line",
    "kind": f"one of {', '.join(Kind)}",
    "hypothesis": "why it should help, in words",
    "prediction": f"{{verdict: one of {', '.join(EXPECTED)}, gain_percent: [LOW, HIGH], text: ...}}; only verdict is needed",
    "mode": f"one of {', '.join(Mode)}; {Mode.GAIN} where it is left out",
    "depends_on": "a list of conditions such as P15 (kept first)",
    "precondition": "what is new, where a do-not-repeat rule would refuse it",
    "forbids": "regular expressions of added lines that the rule shall refuse, if this is rejected",
    "within": "the function in which alone they hold, such as load; load loop: its loops",
    "refuses_near": "true, where the rule shall also refuse what compiles to nearly the same, unless a precondition is written",
    "probe": "a code snippet that fails as long as the reason for a rejection holds: {source, arch, until}",
}
"""Field of experiment.yaml -> what it takes. The first five are needed."""
NEEDED = 5


def proposing_section(protocol: Protocol, next_id: str) -> Section:
    """Return the brief's section about proposing. It is never shortened."""
    return Section(
        key="propose", title=f"How to propose: the next free id is {next_id}", intro=tuple(_lines(protocol, next_id))
    )


def _lines(protocol: Protocol, next_id: str) -> Iterator[str]:
    yield (
        f"A proposal is experiments/{next_id}/experiment.yaml and experiments/{next_id}/change.patch (git diff of"
        f" {', '.join(protocol.scope)}); `expctl new --from-diff --title '...' --hypothesis '...' --expect KEEP --gain 0.5,3`"
        " (a loss: `--expect REJECT --gain=-3,-0.5`)"
        " asks the rules, writes both from the edits of the work tree, commits them with the new ledger.md, and undoes the"
        " edits; kind is perf and mode gain without `--kind` and `--mode`. `expctl withdraw` takes one back."
        " Predict what the run will say that times it, on the target that the change is for, also where that is on another"
        " machine: an INCONCLUSIVE that timed nothing there counts for nothing, one that was timed is a wrong verdict beside"
        " KEEP or REJECT, and its gain is in your range or isn't."
    )
    names = list(FIELDS)
    yield f"experiment.yaml needs {_said(names[:NEEDED])}."
    yield f"It may have {_said(names[NEEDED:])}. Any other field is refused."
    yield (
        "First `expctl try` (or `expctl try my.patch`): it builds every target that can be built here, tests, compares machine"
        " code and asks the rules, in seconds to minutes, beside a run; but one `try` at a time in all worktrees of a"
        " clone (exit status 75: wait). A target that isn't here is not compiled: of a change for it alone `try` says NO-OP"
        " (exit status 1); it may be proposed all the same. `expctl rules check my.patch` asks the rules alone."
    )
    yield (
        "Time nothing yourself: no benchmark, no loop around a test, no profiler's time. It would disturb what is being"
        f" measured, and no figure but expctl's counts. `expctl run {next_id}` times it behind the gate; `expctl profile P<N>`"
        " explains how a concluded one differs from its baseline."
    )


def _said(names: list[str]) -> str:
    return "; ".join(f"{name}: {FIELDS[name]}" for name in names)
