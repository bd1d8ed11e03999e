"""ledger.md: the ledger as Markdown that also reads well as raw text. The same records give the same bytes."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib import resources
from typing import TYPE_CHECKING

from expctl.domain import boundaries
from expctl.domain.predictions import accuracy_text, prediction_text
from expctl.domain.quantities import throughput_text, time_text
from expctl.domain.queue import State
from expctl.views.escape import Markdown, code_text, markdown_text
from expctl.views.findings import about
from expctl.views.ledger_lines import experiment_table, forecast_table, rule_table, short
from expctl.views.table import table

if TYPE_CHECKING:
    import jinja2

    from expctl.domain.ledger import Ledger
    from expctl.domain.ledger_baseline import Baseline, ImportedBaseline
    from expctl.domain.ledger_rows import QueueItem
    from expctl.domain.protocol import Benchmark, Target

COMMIT_LETTERS = 12


@functools.cache
def _template() -> jinja2.Template:
    """Compiled once per process: a KEEP that changes the queue renders twice, and compiling takes longer than rendering."""
    import jinja2

    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701  that escapes for HTML; `finalize` escapes every value for Markdown
        finalize=_finalize,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    return environment.from_string(resources.files("expctl.views").joinpath("ledger.md.j2").read_text(encoding="utf-8"))


def render(ledger: Ledger) -> str:
    """Return the text of ledger.md, with a final newline. Every value is escaped unless it is Markdown already."""
    return _template().render(
        ledger=ledger,
        protocol=ledger.protocol,
        boundaries=boundaries,
        confirm_least=boundaries.CONFIRM_LEAST,
        baseline_table=_baseline_table(ledger.baselines),
        imported_table=_imported_table(ledger.imported_baselines),
        experiment_table=experiment_table(ledger.rows, ledger.borders),
        forecast_table=forecast_table(ledger.forecasts),
        accuracy=accuracy_text(ledger.accuracy),
        rule_table=rule_table(ledger.rules),
        build=_build,
        code=_code,
        kpi=_kpi,
        about=about,
        prediction=prediction_text,
        depends=_depends,
        standing=_standing,
        line=short,
    )


def _finalize(value: object) -> str:
    return value if isinstance(value, Markdown) else markdown_text(str(value))


def _code(parts: Iterable[str]) -> Markdown:
    """Each of `parts` as a code span."""
    return Markdown(", ".join(code_text(part) for part in parts))


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


def _build(target: Target) -> Markdown:
    """Toolchain, architecture and source of a target's build."""
    build = target.build
    return _code(part for part in (build.toolchain, build.arch, build.source or " ".join(build.argv)) if part)


def _kpi(benchmark: Benchmark) -> str:
    """Sizes with weights, and how a round is measured."""
    sizes = ", ".join(f"{size.name} (weight {size.weight:g})" for size in benchmark.sizes)
    return f"{sizes}; at most {benchmark.rounds} rounds, style {benchmark.style}"


def _depends(item: QueueItem) -> str:
    """The conditions of `depends_on`, each with what is known of it so far."""
    return ", ".join(f"{condition} ({known})" for condition, known in item.depends_on) or "nothing"


def _standing(item: QueueItem) -> str:
    """Where it stands when it isn't simply next: `BLOCKED: on 4f2c91a: ...`."""
    priority = f"priority {item.priority}" if item.priority else ""
    state = "" if item.state is State.READY else str(item.state)
    return "; ".join(part for part in (": ".join(word for word in (state, item.why) if word), priority) if part)
