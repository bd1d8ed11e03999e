"""Render ledger.md from a Jinja2 template; equal records give equal text.

A template of the repository runs in a sandbox, which takes twice the time. Every value is escaped for Markdown, unless it is a
`Markdown` that a function here returned.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from importlib import resources
from typing import TYPE_CHECKING, Any

from expctl.domain.errors import Refused
from expctl.domain.experiment.figures import speed_text, state_text, time_text, times_text
from expctl.domain.experiment.predictions import accuracy_text, prediction_text
from expctl.domain.history.blind import false_keep_text, rates_text
from expctl.domain.text import one_line
from expctl.views.escape import Markdown, code_text, shown
from expctl.views.ledger import rows
from expctl.views.ledger.findings import about
from expctl.views.ledger.rivals import beside_text, rival_tables_text

if TYPE_CHECKING:
    import jinja2

    from expctl.domain.experiment.finding import Finding
    from expctl.domain.history.baselines import Baseline, Figure
    from expctl.domain.ledger.model import Ledger, TargetState
    from expctl.domain.ledger.rows import QueueItem

FOLDER, TEMPLATE = "expctl.views.ledger", "ledger.md.j2"
NAMED_MAX, WRAP_AT, TEXT_MAX = 12, 110, 1300
HEAD_MAX = 400  # characters of a finding's first sentence
SENTENCE_END = re.compile(r"(?<=[\w)%])\. (?=[A-Z(])")
# Matches words that may begin a line because Markdown can't take them for a list, a heading or a table.
BEGINS = re.compile(r"[A-Za-z(]")


def render(ledger: Ledger) -> str:
    """Return the text of ledger.md, with a final newline. Raises Refused if the repository's own template is broken."""
    own = ledger.protocol.ledger.template
    text = ledger.template if own else resources.files(FOLDER).joinpath(TEMPLATE).read_text(encoding="utf-8")
    try:
        filled = _template(text, sandboxed=bool(own)).render(ledger=ledger)
    except Exception as error:
        if not own:
            raise
        raise _broken(own, error) from error
    return filled.rstrip("\n") + "\n"


@functools.lru_cache(maxsize=2)  # who serves agents renders it for each proposal, and compiling takes 40 ms
def _template(text: str, *, sandboxed: bool) -> jinja2.Template:
    import jinja2
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = (ImmutableSandboxedEnvironment if sandboxed else jinja2.Environment)(
        autoescape=False,  # autoescape would escape for HTML
        finalize=shown,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
        loader=jinja2.DictLoader({}),  # the template is one file: an include is refused by name
    )
    environment.globals = {each.__name__.removesuffix("_text"): each for each in _FUNCTIONS}
    return environment.from_string(text)


def _broken(path: str, error: Exception) -> Refused:
    import jinja2

    number, trace = 1, error.__traceback__
    while trace is not None:  # Jinja2 names the lines of its templates in tracebacks
        number = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<template>" else number
        trace = trace.tb_next
    number = error.lineno if isinstance(error, jinja2.TemplateSyntaxError) else number
    return Refused(
        "the template of the ledger is broken",
        code="ledger-template-broken",
        expected="a Jinja2 template that the ledger fills (docs/LEDGER.md lists the names)",
        found=f"{type(error).__name__}: {one_line(str(error), 300)}",
        where=f"{path}, line {number}",
        hint=f"mend {path} and commit it, or take `ledger.template` out of protocol.yaml",
    )


def names_text(names: Sequence[str]) -> str:
    """Return a list of names as text, with at most NAMED_MAX of them, e.g. `P1, P2 and 7 more`."""
    rest = f" and {len(names) - NAMED_MAX} more" if len(names) > NAMED_MAX else ""
    return ", ".join(names[:NAMED_MAX]) + rest


def wrap_text(text: object, indent: int = 2) -> Markdown:
    """Escape `text` for Markdown and wrap it at about WRAP_AT characters. Lines after the first are indented by `indent`
    spaces, to belong to the same list item.
    """
    lines, current = [], ""
    for word in shown(text).split(" "):
        if len(current) + len(word) >= WRAP_AT and BEGINS.match(word):
            lines.append(current)
            current = word
        else:
            current = f"{current} {word}" if current else word
    return Markdown(f"\n{' ' * indent}".join([*lines, current]))


def now_text(target: TargetState) -> str:
    """Return a target's present speed, at the size with the largest weight, with interval and state of the machine if known. It
    is e.g. `90.67 GFLOP/s [90.10, 91.20] at n=768 in the faster of 2 states, since P16`.
    """
    if target.baseline is None:
        return f"only figures given by hand ({target.given.id})" if target.given else "nothing timed yet"
    figures = target.baseline.figures
    main = next((each for each in figures if each.size == target.main_size), figures[0])
    state = state_text(main.state, main.states)
    return f"{figure_text(main)} at {main.size}{state}, since {target.baseline.since or 'the start'}"


def peak_text(target: TargetState) -> str:
    """Return the target's peak, e.g. `989 TFLOP/s`; "" if protocol.yaml has none."""
    return f"{target.peak_tflops:g} TFLOP/s" if target.peak_tflops else ""


def gained_text(target: TargetState) -> Markdown | str:
    """Return the effect of all kept changes of the present epoch together, e.g. `**+19.5 %** [+18.6, +20.4], 2 KEEP`. If there
    are none, it says so.
    """
    if target.path is None:
        return f"nothing kept in epoch {target.epoch}" if target.decided and target.epoch else "nothing decided yet"
    steps = target.path.steps
    return Markdown(f"{rows.gain_text(steps[-1].total)}, {len(steps)} KEEP")


def figure_text(figure: Figure) -> str:
    """Return the throughput of a figure, or its time if the number of operations is unknown, with its interval if known."""
    return speed_text(figure.flop, figure.ns, figure.low_ns, figure.high_ns)


def baseline_text(baseline: Baseline) -> str:
    """Return what stands on a target as text: its commit, how and by which experiment it was measured, its time at each size.
    It is e.g. `cpu, commit 4f2c91a, wall_time, shown by P16 (2026-11-20): n=768 9.992 ms = 90.67 GFLOP/s`.
    """
    figures = (
        f"{each.size} {time_text(each.ns)} = {figure_text(each)}{state_text(each.state, each.states)}{_scatter(each)}"
        for each in baseline.figures
    )
    later = f"; landed later, not timed here: {names_text(baseline.later)}" if baseline.later else ""
    return (
        f"{baseline.target}, commit {baseline.commit[:12]}, {baseline.kind}, shown by {baseline.shown_by}"
        f" ({baseline.date[:10]}): {'; '.join(figures)}{later}"
    )


def _scatter(figure: Figure) -> str:
    return f" ({times_text(figure.times)} of the median)" if figure.times else ""


def first_sentence_text(finding: Finding) -> str:
    """Return the first sentence of a finding with its full stop, cut to HEAD_MAX characters."""
    first = SENTENCE_END.split(finding.text, maxsplit=1)[0]
    return one_line(first if first.endswith(".") else f"{first}.", HEAD_MAX)


def rest_text(finding: Finding) -> str:
    """Return a finding's text after its first sentence; "" if it has only one."""
    return one_line(SENTENCE_END.split(finding.text, maxsplit=1)[1], TEXT_MAX) if SENTENCE_END.search(finding.text) else ""


def standing_text(item: QueueItem) -> str:
    """Return state, reason and priority of a queued proposal, e.g. `BLOCKED: on 4f2c91a: ...; priority 2`. A state of ready and
    a priority of 0 are left out.
    """
    priority = f"priority {item.priority}" if item.priority else ""
    state = "" if item.state == "ready" else str(item.state)
    return "; ".join(part for part in (": ".join(word for word in (state, item.why) if word), priority) if part)


def depends_text(item: QueueItem) -> str:
    """Return the conditions in a proposal's `depends_on`, each followed in parentheses by what is known of it now."""
    return ", ".join(f"{condition} ({known})" for condition, known in item.depends_on)


def tally_text(verdicts: Sequence[tuple[Any, int]]) -> str:
    """Return (verdict, count) pairs as text, e.g. `2 KEEP, 3 REJECT`."""
    return ", ".join(f"{count} {verdict}" for verdict, count in verdicts)


# Functions that a template may call, by their names without `_text`.
_FUNCTIONS = (
    *(names_text, wrap_text, now_text, peak_text, gained_text, figure_text, baseline_text, first_sentence_text, rest_text),
    *(
        rates_text,
        beside_text,
        rival_tables_text,
        false_keep_text,
        standing_text,
        depends_text,
        tally_text,
        about,
        accuracy_text,
        prediction_text,
        code_text,
        one_line,
    ),
    *(rows.cell, rows.line, rows.head, rows.link, rows.measured_rows, rows.imported_rows, rows.rule_rows, rows.step_rows),
)
