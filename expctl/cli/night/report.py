"""The command `expctl report`: what happened since an hour, as text: what ran, was kept, was learned, waits for a person."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Annotated

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import one_line

if TYPE_CHECKING:
    import typer

    from expctl.flow.autopilot.report import Ran, Report


def report(
    since: Annotated[
        str, typer.Option(metavar="WHEN", help="An hour of the last day (22:00), or a date (2026-02-18, 2026-02-18T22:00Z).")
    ] = "22:00",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Report what happened since an hour: what ran, what was kept, what was learned, what waits for a person. Takes no lock."""
    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.flow.autopilot.report import began_at, report_since

    place = wiring.here()
    git = wiring.reader(place)
    library, head = wiring.library(git), git.found_head()
    found = report_since(library, head, wiring.night(place).events(), since=began_at(since))
    print_result(found, lambda: list(_lines(found)), as_json, schema="report/1")


def _lines(found: Report) -> Iterator[str]:
    """Yield the report's lines: what ran, what was kept, what was learned, what waits for a person."""
    yield f"Since {found.since}: {_counted(found.verdicts) or 'nothing was concluded'}"
    yield ""
    yield f"Ran ({len(found.ran)})"
    yield from (f"  {_row(each)}" for each in found.ran)
    kept = [each for each in found.ran if each.verdict is Verdict.KEEP]
    yield ""
    yield f"Kept ({len(kept)})"
    yield from (f"  {each.id}  {_effect(each)}  {one_line(each.title, 100)}" for each in kept)
    yield ""
    yield f"Learned ({len(found.learned)})"
    yield from (f"  {one_line(text, 240)}" for text in found.learned)
    yield ""
    yield f"Waits for a person ({len(found.waits)})"
    yield from (f"  {one_line(text, 240)}" for text in found.waits)
    yield ""
    cost = f"; {found.usage.tokens} tokens, {found.usage.money:g} in money, as it reports them"
    yield f"Proposer: {_counted(found.calls) or 'not asked'}{cost if found.calls else ''}"
    yield from (f"  {count:>4}  {code}" for code, count in found.refusals.items())
    yield from (f"Ended: {one_line(why, 240)}" for why in found.ended)


def _counted(found: Mapping[str, int]) -> str:
    return ", ".join(f"{count} {name}" for name, count in found.items())


def _row(each: Ran) -> str:
    return f"{each.id}  {each.verdict}  {_effect(each)}  {one_line(each.title, 60)}: {one_line(each.why, 120)}"


def _effect(each: Ran) -> str:
    if each.effect_percent is None or each.low_percent is None or each.high_percent is None:
        return "not timed"
    return f"{each.effect_percent:+.2f} % [{each.low_percent:+.2f}, {each.high_percent:+.2f}] on {each.target}"
