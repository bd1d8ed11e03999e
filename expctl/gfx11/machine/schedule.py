"""Schedule the waves of a workgroup: each runs to the next barrier, in an order drawn at random after each barrier.

Waves that take the same way may also run side by side, instruction by instruction, which is faster; see team.py.
"""

from __future__ import annotations

import random

from expctl.gfx11.machine.block import Block
from expctl.gfx11.machine.faults import FaultKind
from expctl.gfx11.machine.team import Team
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.machine.workgroup import Workgroup
from expctl.gfx11.text.errors import Runaway

BARRIER = -1
"""Returned by Block.leave instead of a block's index: the wave waits at a barrier; `Wave.resume` is the block after it."""
END = -2


def run_waves(group: Workgroup, waves: list[Wave], blocks: list[Block], order: random.Random, team: Team | None = None) -> None:
    """Run every wave of `group` to its end. Between two barriers the waves run one after the other, in an order drawn from
    `order`; with a `team` of them side by side, as long as they take the same way. Waves that end while others wait at a
    barrier are reported as a DIVERGED fault. Raises Runaway.
    """
    running = list(waves)
    while running:
        order.shuffle(running)
        if team is not None and len(running) == len(waves) and len({wave.resume for wave in running}) == 1:
            _run_together(group, team, running, blocks)
        waiting = [wave for wave in running if _run_to_barrier(group, wave, blocks)]
        if waiting and len(waiting) != len(running):
            ended = len(running) - len(waiting)
            words = f"{ended} wave{'s' * (ended > 1)} ended without this barrier"
            waiting[0].fault(FaultKind.DIVERGED, blocks[waiting[0].resume - 1].last_line, words)
        group.meet(wave.index for wave in waiting)
        running = waiting


def _run_together(group: Workgroup, team: Team, waves: list[Wave], blocks: list[Block]) -> None:
    """Run all waves side by side until they part or come to a barrier or their end; `Wave.at` then says where each is."""
    at, executions = waves[0].resume, group.tally.executions
    team.set_order(waves)
    while at >= 0:
        block = blocks[at]
        executions[at] += len(waves)
        for step in block.together:
            step(team)
        if block.decided_by is not None and team.agrees(block.decided_by):
            for wave in waves:
                _count(group, wave, block)
            at = block.leave(team)
            continue
        team.part()
        for wave in waves:
            _count(group, wave, block)
            wave.at = block.leave(wave)
        places = {wave.at for wave in waves}
        if len(places) > 1:
            return
        at, team.resume = places.pop(), waves[0].resume
    for wave in waves:
        wave.at, wave.resume = at, team.resume


def _run_to_barrier(group: Workgroup, wave: Wave, blocks: list[Block]) -> bool:
    """Run a wave to its next barrier; return False if it ended instead. Raises Runaway."""
    executions = group.tally.executions
    while wave.at >= 0:
        block = blocks[wave.at]
        executions[wave.at] += 1
        for step in block.steps:
            step(wave)
        _count(group, wave, block)
        wave.at = block.leave(wave)
    waits = wave.at == BARRIER
    wave.at = wave.resume
    return waits


def _count(group: Workgroup, wave: Wave, block: Block) -> None:
    """Count the instructions of a block that a wave has executed. Raises Runaway if there are too many."""
    wave.instructions += block.size
    group.work += block.work
    if wave.instructions > group.device.most_instructions or group.work > group.device.most_work:
        raise Runaway(
            "a workgroup goes on without an end in the gfx11 interpreter",
            code="too-many-instructions",
            expected="a kernel whose waves end before that",
            found=f"{wave.instructions} instructions in wave {wave.index}",
            where=f"line {block.last_line} of the assembly",
            hint="look for an endless loop; if it is only long, launch it at smaller shapes",
        )
