"""The command `expctl gate`: show what would block a measurement now."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol


def gate(
    target: Annotated[
        str, typer.Option(help="What would be measured; default: the first that the machine has devices for.")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Show which processes or devices would block a measurement now, and since when. Takes no lock. Exit 0 if none, else 75."""
    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.domain.errors import ExitStatus
    from expctl.views.gate import gate_lines

    place = wiring.here()
    git = wiring.reader(place)
    protocol = wiring.library(git).protocol(git.head())
    name = _known(protocol, target) if target else _first(protocol)
    machine = wiring.gate(place, protocol.gate)
    blocking = machine.blocking(protocol.targets[name])
    seen = machine.seen(protocol.targets[name])
    facts = {"quiet": not blocking, "target": name, "blocking": blocking, "sensors": seen}
    rows = [(each.sensor, each.says, each.absent, each.unused) for each in seen]
    print_result(facts, lambda: gate_lines(name, blocking, rows), as_json, schema="gate/1")
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


def _first(protocol: "Protocol") -> str:
    import os
    import shutil

    for name in protocol.decides:
        requires = protocol.targets[name].requires
        if all(map(shutil.which, requires.executables)) and all(map(os.path.exists, requires.devices)):
            return name
    return protocol.decides[-1]
