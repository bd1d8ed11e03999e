"""Say when a run goes by another protocol.yaml than the one that the user has before them."""

from msgspec.structs import asdict

from expctl.domain.protocol.model import Gate, Protocol
from expctl.domain.text import one_line
from expctl.ports.context import Context


def tell_edits(context: Context, protocol: Protocol, base: str) -> None:
    """Print a line if protocol.yaml or the harness has edits in the work tree: a run uses what is in the commit `base`."""
    edited = context.workspace.dirty(["protocol.yaml", *protocol.harness])
    if edited:
        listed = ", ".join(one_line(path, 80) for path in edited[:3]) + (" ..." if len(edited) > 3 else "")
        context.progress.step("note", f"{listed}: edits that are not committed; this run uses what is in {base[:7]}")


def tell_older_gate(context: Context, protocol: Protocol, base: str) -> None:
    """Print a line if the gate of HEAD isn't that of `base`, by which a resumed run began and goes on."""
    now = context.library.protocol(context.workspace.head()).gate
    if now != protocol.gate:
        differences = _differences(protocol.gate, now)
        context.progress.step("gate", f"this run keeps the gate of its base {base[:7]}: {differences}")


def _differences(before: Gate, now: Gate) -> str:
    old, new = asdict(before), asdict(now)
    return ", ".join(f"{key} {_text(old[key])} (HEAD: {_text(new[key])})" for key in old if old[key] != new[key])


def _text(value: object) -> str:
    return (
        f"{value:g}"
        if isinstance(value, float)
        else one_line(" ".join(map(str, value)) if isinstance(value, tuple) else str(value), 60)
    )
