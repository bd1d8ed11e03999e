"""How the waves of a workgroup take turns: each runs to the next barrier, in an order drawn anew for each stretch."""

from __future__ import annotations

import random

from expctl.gfx11.machine.block import Block
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.machine.workgroup import Workgroup
from expctl.gfx11.text.errors import Runaway

BARRIER = -1
"""In place of the index of the next block: the wave waits; `Wave.resume` says where it goes on."""
END = -2


def run_waves(group: Workgroup, waves: list[Wave], blocks: list[Block], order: random.Random) -> None:
    """Run every wave of `group` to its end, from barrier to barrier, in orders drawn from `order`. Raises Runaway."""
    running = list(waves)
    while running:
        order.shuffle(running)
        waiting = [wave for wave in running if _run_to_barrier(group, wave, blocks)]
        if waiting and len(waiting) != len(running):
            ended = len(running) - len(waiting)
            waiting[0].fault(
                FaultKind.DIVERGED, blocks[waiting[0].resume - 1].last_line, f"{ended} waves ended without this barrier"
            )
        group.epoch += 1
        running = waiting


def _run_to_barrier(group: Workgroup, wave: Wave, blocks: list[Block]) -> bool:
    """False if the wave has ended."""
    at = wave.resume
    executions = group.tally.executions
    while at >= 0:
        block = blocks[at]
        executions[at] += 1
        for step in block.steps:
            step(wave)
        wave.instructions += block.size
        if wave.instructions > group.device.most_instructions:
            raise Runaway(
                f"gfx11 interpreter: a wave ran more than {group.device.most_instructions} instructions",
                code="too-many-instructions",
                where=f"line {block.last_line} of the assembly",
                hint="look for a loop that does not end, or allow more",
            )
        at = block.leave(wave)
    return at == BARRIER
