"""The command `expctl report`: what happened since an hour, as text; or the whole account as an HTML page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import one_line

if TYPE_CHECKING:
    import typer

    from expctl.adapters.git.reader import Place
    from expctl.flow.autopilot.report import Ran, Report

SINCE, PORT = "22:00", 8722


def report(
    since: Annotated[
        str,
        typer.Option(
            metavar="WHEN", help="An hour of the last day (the text's default: 22:00), or a date (2026-02-18T22:00Z)."
        ),
    ] = "",
    html: Annotated[str, typer.Option(metavar="FILE", help="Write the whole account to one HTML page instead.")] = "",
    serves: Annotated[
        bool, typer.Option("--serve", help="Serve that page to this machine's browsers; it follows a campaign. Ctrl-C ends it.")
    ] = False,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The port of --serve; 0: a free one.")] = PORT,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Report what happened since an hour: what ran, what was kept, what was learned, what waits for a person. Takes no lock."""
    from expctl import wiring
    from expctl.cli.night.page import serve, write_page
    from expctl.cli.output import print_result
    from expctl.domain.errors import Misused

    if (bool(html), serves, as_json).count(True) > 1:
        raise Misused(
            "a report has one form",
            code="report-in-two-forms",
            expected="one of --html, --serve and --json, or none for text",
            hint="expctl report --html report.html",
        )
    place = wiring.here()
    if html or serves:
        asked = partial(_text_since, place, since) if since else tuple
        return serve(place, port, asked) if serves else write_page(place, Path(html), asked)
    found = _since(place, since or SINCE)
    return print_result(found, lambda: list(_lines(found)), as_json, schema="report/1")


def _since(place: Place, since: str) -> Report:
    from expctl import wiring
    from expctl.flow.autopilot.report import began_at, report_since

    git = wiring.reader(place)
    return report_since(wiring.library(git), git.found_head(), wiring.night(place).events(), since=began_at(since))


def _text_since(place: Place, since: str) -> Sequence[str]:
    return list(_lines(_since(place, since)))


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
