"""The command `expctl status`: show baselines, the running experiment, the queue and what blocks a measurement."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

if TYPE_CHECKING:
    import typer

    from expctl.domain.history.blind import BlindRates
    from expctl.flow.status import EpochNow, Status


def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
    watches: Annotated[
        bool, typer.Option("--watch", help="Follow a run: step, estimate and borders, gate, queue, time left; Ctrl-C ends it.")
    ] = False,
) -> None:
    """Show baselines, the running experiment, the queue, last verdicts and what would block a measurement. Takes no lock."""
    import gc

    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.flow.repository.beside import unmerged
    from expctl.flow.status import read_status

    if watches:
        _watch(as_json)
        return
    gc.disable()  # a short process frees nothing; collecting only costs time
    place = wiring.here()
    git = wiring.reader(place)
    library, head = wiring.library(git), git.found_head()
    library.read_ahead(head)
    stock = read_status(
        library,
        head=head,
        branch=git.branch(),
        running=wiring.running(place),
        machine=wiring.machine(),
        absent=wiring.absent_targets,
        beside=unmerged(git),
        gate=lambda protocol: wiring.gate_now(place, protocol),
        edited=git.is_edited(head, "protocol.yaml"),
    )
    print_result(stock, lambda: _lines(stock), as_json, schema="status/1")


def _watch(as_json: bool) -> None:
    from expctl import wiring
    from expctl.cli.night.watch import watch
    from expctl.domain.errors import Misused

    if as_json:
        raise Misused(
            "--watch has no JSON",
            code="watch-not-json",
            expected="one of --watch and --json",
            hint="expctl status --json prints the facts once",
        )
    watch(wiring.here())


def _lines(stock: Status) -> list[str]:
    from expctl.domain.experiment.figures import speed_text, state_text
    from expctl.domain.text import one_line
    from expctl.flow.repository.beside import bring_home
    from expctl.views.gate import status_gate_lines

    lines = [f"{one_line(stock.name)}   {stock.branch or 'detached'} at {stock.head[:7]}", "baseline"]
    for baseline in stock.baselines:
        figures = ", ".join(
            f"{each.size} {speed_text(each.flop, each.ns, each.low_ns, each.high_ns)}{state_text(each.state, each.states)}"
            for each in baseline.figures
        )
        since = f"since {baseline.since}, " if baseline.since else ""
        lines.append(f"  {baseline.target:<10} {figures}   {since}shown by {baseline.shown_by}")
    lines += [f"  {each.target:<10} {one_line(each.given, 110)}   imported, from {each.id}" for each in stock.imported]
    lines += [] if stock.baselines or stock.imported else ["  none measured yet"]
    lines += ["epoch", *(_epoch(each) for each in stock.epochs)] if stock.epochs else []
    lines.append("running")
    for running in stock.running:
        who = f"pid {running.pid}" if running.alive else f"its runner is gone; {running.resumed_by} resumes it"
        lines.append(f"  {running.experiment:<10} {running.step}   {who}")
    lines += [] if stock.running else ["  nothing"]
    lines.append("queue")
    lines += [
        f"  {each.id:<10} {one_line(each.title, 80)}" + (f"   {each.state} {one_line(each.why, 160)}" if each.why else "")
        for each in stock.queue
    ] or ["  empty: expctl new --from-diff"]
    lines.append("last verdicts")
    lines += [
        f"  {each.id:<10} {each.verdict:<12} {one_line(each.title, 50)}: {one_line(each.reason, 110)}" for each in stock.last
    ] or ["  none measured yet"]
    if stock.debts:
        lines += ["open debts of what was kept", *(f"  {one_line(each)}" for each in stock.debts)]
    lines += ["blind slots", *_blind(stock.blind)] if stock.blind else []
    lines += ["beside", f"  {stock.beside} has more: {bring_home(stock.beside)}"] if stock.beside else []
    lines.append("gate")
    return lines + status_gate_lines(
        stock.gate_target, stock.blocking, stock.not_asked, edited=stock.edited, beside=stock.neighbours
    )


def _blind(rates: tuple[BlindRates, ...]) -> list[str]:
    from expctl.domain.history.blind import false_keep_text, rates_text

    lines = [f"  {each.target:<10} {rates_text(each)}" for each in rates]
    return lines + [f"  WARNING    {warning}" for each in rates if (warning := false_keep_text(each))]


def _epoch(now: EpochNow) -> str:
    from expctl.domain.text import one_line

    if now.since:
        return f"  {now.target:<10} {now.number}, since {now.since} ({now.date})"
    return f"  {now.target:<10} the next run begins {now.number}: {one_line('; '.join(now.begins), 300)}"
