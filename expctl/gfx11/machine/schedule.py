"""Schedule the waves of a workgroup: each runs to the next barrier, in an order drawn at random after each barrier."""

from __future__ import annotations

import random

from expctl.gfx11.machine.block import Block
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.machine.workgroup import Workgroup
from expctl.gfx11.text.errors import Runaway

BARRIER = -1
"""Returned by Block.leave instead of a block's index: the wave waits at a barrier; `Wave.resume` is the block after it."""
END = -2


def run_waves(group: Workgroup, waves: list[Wave], blocks: list[Block], order: random.Random) -> None:
    """Run every wave of `group` to its end. Between two barriers the waves run one after the other, in an order drawn from
    `order`. Waves that end while others wait at a barrier are reported as a DIVERGED fault. Raises Runaway.
    """
    running = list(waves)
    while running:
        order.shuffle(running)
        waiting = [wave for wave in running if _run_to_barrier(group, wave, blocks)]
        if waiting and len(waiting) != len(running):
            ended = len(running) - len(waiting)
            waiting[0].fault(
                FaultKind.DIVERGED, blocks[waiting[0].resume - 1].last_line, f"{ended} waves ended without this barrier"
            )
        group.meet(wave.index for wave in waiting)
        running = waiting


def _run_to_barrier(group: Workgroup, wave: Wave, blocks: list[Block]) -> bool:
    """Run a wave to its next barrier; return False if it ended instead. Raises Runaway."""
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
                f"a wave ran more than {group.device.most_instructions} instructions in the gfx11 interpreter",
                code="too-many-instructions",
                expected="a kernel whose waves end before that",
                found=f"{wave.instructions} instructions",
                where=f"line {block.last_line} of the assembly",
                hint="look for an endless loop; for a kernel that is only long, pass interpret() a larger most_instructions",
            )
        at = block.leave(wave)
    return at == BARRIER
