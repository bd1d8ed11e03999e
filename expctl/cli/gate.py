"""The command `expctl gate`: show what would block a measurement now."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol


def gate(
    target: Annotated[
        str, typer.Option(help="What would be measured; default: the first that the machine has devices for.")
    ] = "",
    wait: Annotated[float, typer.Option(min=0, metavar="S", help="Wait S seconds at most until nothing blocks.")] = 0.0,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Show which processes or devices would block a measurement now, and since when. Takes no lock. Exit 0 if none, else 75."""
    import contextlib
    import sys

    from msgspec.structs import replace

    from expctl import wiring
    from expctl.adapters.steps.requirements import first_target
    from expctl.cli.output import print_result
    from expctl.domain.errors import Busy, ExitStatus
    from expctl.views.console import ConsoleProgress
    from expctl.views.gate import gate_lines

    place = wiring.here()
    git = wiring.reader(place)
    head = git.head()
    protocol = wiring.library(git).protocol(head)
    name = _known(protocol, target) if target else first_target(protocol)
    edited = git.is_edited(head, "protocol.yaml")
    with ConsoleProgress(sys.stderr if as_json else sys.stdout) as progress:
        cards = wiring.own_cards(protocol.gate, protocol.environment, on_gpu=protocol.targets[name].uses_gpu)
        machine = wiring.gate(place, replace(protocol.gate, wait_s=wait), cards, told=progress.waiting)
        blocking = machine.blocking(protocol.targets[name])
        if blocking and wait:
            with contextlib.suppress(Busy):
                machine.wait_until_quiet(protocol.targets[name])
            blocking = machine.blocking(protocol.targets[name])
    seen, busiest = machine.seen(protocol.targets[name]), machine.busiest() if blocking else ()
    beside = machine.beside(protocol.targets[name])
    facts = {"quiet": not blocking, "target": name, "blocking": blocking, "sensors": seen, "busiest": busiest, "edited": edited}
    facts["neighbours"] = beside
    rows = [(each.sensor, each.says, each.absent, each.unused) for each in seen]
    print_result(
        facts, lambda: gate_lines(name, blocking, rows, busiest=busiest, edited=edited, beside=beside), as_json, schema="gate/1"
    )
    if blocking:
        raise typer.Exit(int(ExitStatus.BUSY))


def _known(protocol: "Protocol", target: str) -> str:
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line

    if target in protocol.targets:
        return target
    raise Misused(
        "protocol.yaml has no target of this name",
        code="unknown-target",
        expected=f"one of {', '.join(protocol.targets)}",
        found=one_line(target, 60),
        where="protocol.yaml, targets",
        hint="expctl gate --target NAME",
    )
