"""Render ledger.md: Markdown that is also readable as raw text. Equal records give equal bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from expctl.domain.experiment.figures import throughput_text, time_text
from expctl.domain.experiment.predictions import accuracy_text, prediction_text
from expctl.domain.queue.ordering import State
from expctl.views.escape import Markdown, code_text, shown
from expctl.views.ledger.cached_tables import HEADS, Tables, tables
from expctl.views.ledger.findings import about
from expctl.views.ledger.markdown_table import aligned, table
from expctl.views.ledger.protocol import protocol_sections
from expctl.views.ledger.tables import experiment_cells, forecast_cells, rule_cells, shorten

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Finding
    from expctl.domain.history.baselines import Baseline, ImportedBaseline
    from expctl.domain.ledger.model import Ledger
    from expctl.domain.ledger.remarks import Remark
    from expctl.domain.ledger.rows import QueueItem
    from expctl.ports.repository import Drawings

COMMIT_LETTERS = 12
UNUSED_MAX = 12
ORDER = "In the order of ids, which is not that of time: an id is given when it is proposed, and `measured` says when it ran."
RULES = """\
A change that matches one of these may run again only with a new precondition: one that expctl verifies itself (another
compiler, architecture or epoch, other code where the patch goes, a probe that passes), or a reason written under `precondition`
in experiment.yaml. `expctl` under "refused by": a repeat is known and refused by itself, at the levels named. `reader`: no patch
was kept, so whoever proposes or reviews must refuse it, as long as it is closed. `closed` is what the records say; `expctl rules`
looks at this machine and this commit, and lists what is open again today. `weak`: what the rule rests on is no good evidence.
"""  # noqa: E501  a line of Markdown
UNDECIDED = """\
; the table says why. One whose code is the same as the baseline's
on the target that decided can be decided by another target: `expctl run ID --target NAME`. One that was timed and needs more
rounds than the protocol allows is over, unless it is proposed again under a new id on a quieter machine, or after the owner
of protocol.yaml has raised `rounds`."""


def render(ledger: Ledger) -> str:
    """Return the text of ledger.md, with a final newline. Every value is escaped unless it is Markdown already."""
    lines = (rule_cells(ledger.rules), experiment_cells(ledger.rows, ledger.borders), forecast_cells(ledger.forecasts))
    long = (aligned(*each).encode() if each[1] else b"" for each in zip(HEADS, lines, strict=True))
    return _joined(_sections(ledger, Tables(*long))).decode()


def render_pieces(ledger: Ledger, drawings: Drawings) -> bytes:
    """Return ledger.md as UTF-8, for a ledger whose tables come in pieces; rendered pieces are stored in `drawings`."""
    return _joined(_sections(ledger, tables(ledger.pieces, drawings)))


def _joined(lines: Iterable[str | bytes]) -> bytes:
    return b"\n".join([*(line if isinstance(line, bytes) else line.encode() for line in lines), b""])


def _sections(ledger: Ledger, long: Tables) -> Iterator[str | bytes]:
    """Yield ledger.md line by line; its long tables are encoded already."""
    yield f"# Experiment ledger: {shown(ledger.protocol.name)}"
    yield from ("", "<!-- rendered by `expctl ledger` from experiments/*/record.json; do not edit -->")
    yield from ("", "## Read this first", "", *(f"- {shown(fact)}" for fact in ledger.facts))
    yield from ("", "## Durable findings", "", *(_findings(ledger.findings) or ["None yet."]))
    yield from ("", "## Baseline per target", "", *_baselines(ledger))
    yield from ("", "## Do not repeat", "")
    yield from (RULES, long.rules) if long.rules else ("No rule yet.",)
    if ledger.debts:
        yield from ("", "## Unmeasured at home", "")
        yield from (f"- {shown(debt.id)}: {shown(debt.flag)}" for debt in ledger.debts)
    yield from ("", "## Next experiments", "")
    yield from (line for item in ledger.queue for line in _queued(item)) if ledger.queue else ("The queue is empty.",)
    if ledger.undecided:
        yield from ("", f"Undecided, nothing landed: {shown(', '.join(ledger.undecided))}{UNDECIDED}")
    yield from ("", "## Experiments", "")
    yield from (ORDER, "", long.experiments) if long.experiments else ("None yet.",)
    if ledger.unused:
        yield from ("", f"Never used, so nothing is missing there: {_first_names(ledger.unused)}.")
    yield from _remarks("Corrections to imported rows", ledger.corrections)
    yield from _remarks("Notes", ledger.notes)
    yield ""
    if ledger.fallen_findings:
        yield from ("## Findings that no longer stand", "", *_findings(ledger.fallen_findings), "")
    if long.forecasts:
        yield from ("## Predictions and what came of them", "")
        yield (
            f"{shown(accuracy_text(ledger.accuracy))}. INVALID runs, analyses, and targets that the patch left alone are not"
            " counted."
        )
        yield from ("", long.forecasts, "")
    yield from protocol_sections(ledger.protocol)


def _first_names(names: Sequence[str]) -> str:
    more = f" and {len(names) - UNUSED_MAX} more gaps" if len(names) > UNUSED_MAX else ""
    return ", ".join(names[:UNUSED_MAX]) + more


def _findings(findings: Sequence[Finding]) -> list[str]:
    return [f"- **{shown(each.id)}** {shown(each.text)} ({shown(about(each))})" for each in findings]


def _baselines(ledger: Ledger) -> Iterator[str]:
    if ledger.baselines:
        yield (
            "The newest code that was timed on each target: medians of single iterations, in the epoch of the experiment named."
        )
        yield from ("", _baseline_table(ledger.baselines))
    else:
        yield "expctl has timed nothing yet: no measured baseline on any target."
    if ledger.imported_baselines:
        yield ""
        yield "Imported, given by hand, not comparable to any measured figure; read them with the corrections below:"
        yield from ("", _imported_table(ledger.imported_baselines))
    if ledger.epochs:
        yield ""
        yield (
            "Epochs, inside which alone figures may be compared (equal harness, KPI, build, compiler, machine, driver and clock"
            " policy):"
        )
        yield from ("", *(f"- {shown(epoch)}" for epoch in ledger.epochs))


def _queued(item: QueueItem) -> Iterator[str]:
    yield f"- **{shown(item.id)}** {shown(shorten(item.title))} ({shown(item.kind)}, mode {shown(item.mode)})"
    yield f"  - hypothesis: {shown(shorten(item.hypothesis))}"
    yield f"  - prediction: {shown(shorten(prediction_text(item.prediction)))}"
    yield f"  - depends on: {shown(shorten(_depends(item)))}"
    if standing := _queue_state(item):
        yield f"  - state: {shown(shorten(standing))}"
    if item.precondition:
        yield f"  - new precondition: {shown(shorten(item.precondition))}"


def _remarks(title: str, remarks: Iterable[Remark]) -> list[str]:
    lines = [f"- {shown(', '.join(each.ids))}: {shown(each.text)}" for each in remarks]
    return ["", f"### {title}", "", *lines] if lines else []


def _baseline_table(baselines: Iterable[Baseline]) -> Markdown:
    heads = ("target", "commit", "size", "time", "throughput", "kind", "since", "samples of", "landed later, not timed here")
    return table(
        heads,
        [
            (
                baseline.target,
                code_text(baseline.commit[:COMMIT_LETTERS]),
                figure.size,
                time_text(figure.ns),
                throughput_text(figure.flop, figure.ns),
                baseline.kind,
                baseline.since or "the start",
                f"{baseline.shown_by}{f', {baseline.date}' if baseline.date else ''}",
                ", ".join(baseline.later),
            )
            for baseline in baselines
            for figure in baseline.figures
        ],
    )


def _imported_table(baselines: Iterable[ImportedBaseline]) -> Markdown:
    heads = ("target", "last KEEP", "date", "figures: imported, given by hand")
    return table(heads, [(given.target, given.id, given.date, given.given) for given in baselines])


def _depends(item: QueueItem) -> str:
    """Return the conditions of a queue item's `depends_on`, each with what is known about it so far."""
    return ", ".join(f"{condition} ({known})" for condition, known in item.depends_on) or "nothing"


def _queue_state(item: QueueItem) -> str:
    """Return why a queue item isn't simply next, e.g. `BLOCKED: on 4f2c91a: ...`, and its priority; "" if it is."""
    priority = f"priority {item.priority}" if item.priority else ""
    state = "" if item.state is State.READY else str(item.state)
    return "; ".join(part for part in (": ".join(word for word in (state, item.why) if word), priority) if part)
