"""Count the hot loop of each target that protocol.yaml asks it for. Counts are kept by the code, and are no speed."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from expctl.domain.errors import Refused
from expctl.domain.experiment.hot_loop import CountedLoop, HotLoop
from expctl.domain.protocol.model import Toolchain
from expctl.domain.run.step_result import Failed, Unavailable
from expctl.domain.text import one_line
from expctl.domain.verdict.samples import Side
from expctl.flow.measuring.profile_step import profile_side
from expctl.flow.measuring.setup import Setup
from expctl.flow.repository.hot_loops import code_of

if TYPE_CHECKING:
    from expctl.ports.context import Context
    from expctl.ports.repository import HotLoopStore

CountLoop = Callable[[Path, Path | None, str, Path], CountedLoop]
"""Reads the hot loop in an assembly: of its path, that of a launch description, the kernel's name, the check-out."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LoopCounter:
    """What counting a hot loop needs besides Context."""

    count: CountLoop
    store: HotLoopStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Uncounted:
    """A target whose hot loop can't be counted here, and why."""

    target: str
    why: str


def count_hot_loops(context: Context, counter: LoopCounter) -> tuple[HotLoop | Uncounted, ...]:
    """Count the hot loops of HEAD that weren't counted here yet, in a second to a minute for each. The caller holds the lock
    for measuring and removes the check-outs.
    """
    head = context.workspace.head()
    protocol = context.library.protocol(head)
    wanted = {name: code_of(context.library, head, protocol, name) for name, each in protocol.targets.items() if each.hot_loop}
    found: dict[str, HotLoop | Uncounted | None] = {name: counter.store.read(code) for name, code in wanted.items()}
    for name, code in wanted.items():
        if found[name] is None:
            setup = Setup(context=context, protocol=protocol, tools=context.tools_for(protocol, name), head=head, name=name)
            context.progress.working("count", f"the hot loop of {name}")
            counted = _counted(setup, code, counter.count)
            found[name] = counted
            if isinstance(counted, HotLoop):
                counter.store.write(counted)
    return tuple(each for each in found.values() if each is not None)


def _counted(setup: Setup, code: str, count: CountLoop) -> HotLoop | Uncounted:
    rule, target = setup.target.hot_loop, setup.target
    available = setup.tools.toolchains.availability(setup.name, target)
    if rule is None or isinstance(available, Unavailable):
        return Uncounted(target=setup.name, why=available.reason if isinstance(available, Unavailable) else "not asked for")
    tree = setup.check_out(setup.head, Side.BASELINE)
    built = setup.build(setup.head, tree)
    if isinstance(built, Failed):
        return Uncounted(target=setup.name, why=one_line(built.reason, 300))
    path = built[1][0]
    tools = ", ".join(f"{name} {version}" for name, version in available.versions.items())
    machine = ", ".join(
        filter(None, map(setup.context.machine.get, ("cpu", "vector")))
    )  # one name of a CPU may stand for several
    if target.build.toolchain is Toolchain.ZIG_GFX:
        try:
            loop = count(path, tree / rule.launch if rule.launch else None, rule.kernel, tree)
        except Refused as refusal:
            return Uncounted(target=setup.name, why=one_line(f"{refusal.message}: {refusal.found}", 300))
        return HotLoop(target=setup.name, code=code, head=setup.head, counted_on=tools, loop=loop)
    if target.profile is None:
        return Uncounted(target=setup.name, why="it has no profile step that counts")
    with setup.tools.gate.measuring(target) if target.uses_gpu else nullcontext():
        seen = profile_side(
            setup.tools,
            setup.context.progress,
            target.profile,
            side=Side.BASELINE,
            target=setup.name,
            arch=target.build.arch,
            cwd=tree,
            tree=tree,
            artifact=path,
        )
    setup.tools.profiles.forget(setup.name)
    if seen.failure:
        return Uncounted(target=setup.name, why=one_line(seen.failure, 300))
    return HotLoop(target=setup.name, code=code, head=setup.head, counted_on=machine, facts=seen.facts)
