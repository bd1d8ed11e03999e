"""The section of the brief about protocol.yaml: what is fixed, what a patch may touch, which targets decide, what to type."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from expctl.domain.brief.word_limit import Section

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol

_EXTENTS = re.compile(r"\b\d+x\d+x\d+\b")


def protocol_section(protocol: Protocol, absent: Mapping[str, str]) -> Section:
    """Return the brief's section about the protocol. It is never shortened: a proposal that breaks the protocol is refused.
    `absent` says what targets lack on this machine.
    """
    return Section(
        key="protocol", title="Protocol: what is fixed and what you may touch", intro=tuple(_lines(protocol, absent))
    )


def _lines(protocol: Protocol, absent: Mapping[str, str]) -> Iterator[str]:
    keep = protocol.keep
    yield f"Goal: {(protocol.goal or protocol.name).rstrip('.')}."
    yield (
        f"You may touch only {', '.join(protocol.scope)}: at most {protocol.patch.files} files and {protocol.patch.bytes}"
        " bytes, regular files, one idea a patch."
    )
    yield (
        f"You may not touch {', '.join((*protocol.harness, 'protocol.yaml'))}, records or ledger.md: they judge, and are read"
        " from the baseline commit."
    )
    yield "You propose a patch, a hypothesis and a prediction. You never decide, and never time or report anything yourself."
    others = "".join(f", else {name}" for name in protocol.decides[1:])
    guards = [name for name in protocol.targets if name not in protocol.decides]
    here = next((name for name in protocol.decides if name not in absent), "")
    yield f"{protocol.decides[0]} decides where it is available{others}; here it is {here or 'none'}. Every target must build."
    if guards:
        yield f"Only guards, never timed: {', '.join(guards)}. They must build, keep their limits and pass their tests."
    for name in protocol.decides:
        benchmark = protocol.targets[name].benchmark
        if benchmark is not None:
            sizes = ", ".join(f"{size.name} ({size.weight:g}{', rescuer' if size.rescuer else ''})" for size in benchmark.sizes)
            extents = " (M x N x K)" if _EXTENTS.search(sizes) else ""
            yield f"KPI on {name}: {protocol.targets[name].number_kind} of one iteration, sizes{extents} with weights: {sizes}."
    second = ", and a second device confirms it" if keep.second_device else ""
    yield (
        "KEEP: the tests pass, the weighted gain lies beyond noise and holds again in a new session, and no size may have lost"
        f" more than {keep.guard_percent:g} %{second}. REJECT: a size surely loses more than {keep.regression_percent:g} %, or"
        f" a gain of {keep.worthwhile_percent:g} % is ruled out. Mode simplify: no gain is needed, and all simplifications of"
        f" an epoch together may cost {keep.simplify_percent:g} %. Mode gain-costly: the gain must exceed"
        f" {keep.costly_percent:g} %."
    )
    everywhere = " and every target was built" if keep.free_simplify == "all" else ""
    yield (
        "INCONCLUSIVE: undecided, nothing landed; so ends what changes a guard's code alone. NO-OP: the same machine code of"
        " all that was built, nothing was timed; so ends what is only compiled for targets that aren't here. Time both with"
        " `expctl run ID --target NAME` where that target is. Of kind simplify or infra a NO-OP"
        f" is a KEEP where the tests pass{everywhere}. INVALID: machine or harness failed, which says nothing about the idea."
        " BLOCKED: the patch no longer applies."
    )
    yield (
        "Figures are comparable only on one target inside one epoch (same harness, KPI, build, compiler, machine, driver, clock"
        " policy). Counted and static figures are never speed."
    )
