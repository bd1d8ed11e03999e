"""The gate (the check for foreign work before a measurement) as text for a terminal: what blocks it, and its sensors."""

from collections.abc import Iterable, Sequence

from expctl.domain.machine.interference import Foreign
from expctl.domain.machine.waiting import Load, busiest_texts, way_out
from expctl.domain.text import one_line
from expctl.views.report import foreign_lines, labelled

EDITED = "protocol.yaml has edits that are not committed; a run uses the committed one"


def gate_lines(
    target: str,
    blocking: Sequence[Foreign],
    sensors: Iterable[tuple[str, str, str, str]],
    *,
    busiest: Sequence[Load] = (),
    edited: bool = False,
    beside: Sequence[Foreign] = (),
) -> list[str]:
    """Return the state of the gate for a target: a line for each process or device that blocks it, who is `busiest` and what to
    do about it, and a line for each sensor. Each of `sensors` is (name, what it observes, why it can't work here or "", why the
    target doesn't use it or ""). `edited` says that protocol.yaml isn't the committed one; `beside` are the runs on
    other cards, which block nothing.
    """
    lines = [f"{'blocked' if blocking else 'quiet'} for {one_line(target)}", *foreign_lines(blocking)]
    if any(each.sensor == "cpu" for each in blocking):
        lines += [line for each in busiest_texts(busiest)[:1] for line in labelled("busiest", each)]
    lines += [*labelled("next", way_out(blocking)), *labelled("note", EDITED if edited else "")]
    lines += ["neighbours", *foreign_lines(beside)] if beside else []
    return [*lines, "sensors", *(_line(*each) for each in sensors)]


def status_gate_lines(
    target: str,
    blocking: Sequence[Foreign],
    not_asked: Sequence[str],
    *,
    edited: bool,
    beside: Sequence[Foreign] = (),
) -> list[str]:
    """Return what `status` says about the gate; `not_asked` are the sensors that only `expctl gate` asks, `beside` the runs on
    other cards.
    """
    lines = foreign_lines(blocking) or [f"  {'nothing seen' if not_asked else 'quiet'} for {one_line(target)}"]
    lines += labelled("not asked", f"{', '.join(not_asked)}: expctl gate asks" if not_asked else "")
    lines += [line for each in foreign_lines(beside) for line in labelled("neighbour", each.strip())]
    return lines + labelled("note", EDITED if edited else "")


def _line(name: str, says: str, absent: str, unused: str) -> str:
    state = f"not asked: {unused}" if unused else f"absent: {absent}" if absent else says
    return f"  {name:<10} {one_line(state, 200)}"
