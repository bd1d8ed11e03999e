"""What the waves of one workgroup share, and how they take turns."""

from __future__ import annotations

import random
from dataclasses import dataclass

from expctl.gfx11.machine.accesses import Access, AccessLog
from expctl.gfx11.machine.block import Block
from expctl.gfx11.machine.counts import Tally
from expctl.gfx11.machine.faults import FaultKind, FaultLog
from expctl.gfx11.machine.lds import Lds
from expctl.gfx11.machine.memory import Memory
from expctl.gfx11.machine.private import Private
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.text.errors import Runaway

BARRIER = -1
"""In place of the index of the next block: the wave waits; `Wave.resume` says where it goes on."""
END = -2


@dataclass(slots=True, kw_only=True)
class Device:
    """What all workgroups of a launch share."""

    memory: Memory
    log: AccessLog
    """Of global memory."""
    faults: FaultLog
    tally: Tally
    most_instructions: int
    """A wave that runs more is stopped."""


class Workgroup:
    """`index` is unique in the launch; `epoch` counts the barriers passed."""

    def __init__(self, index: int, device: Device, *, lds_bytes: int, private_bytes: int, most_waves: int) -> None:
        self.index = index
        self.device = device
        self.memory, self.faults, self.tally = device.memory, device.faults, device.tally
        self.lds = Lds(lds_bytes, device.tally)
        self.private = [Private(private_bytes) for _ in range(most_waves)]
        self.most_waves = most_waves
        self.epoch = 0

    def access(self, line: int, wave: Wave) -> Access:
        """An access that starts now and is taken to end before the next barrier."""
        agent = self.index * self.most_waves + wave.index
        return Access(line=line, agent=agent, group=self.index, begun=self.epoch, ended=self.epoch)

    def run(self, waves: list[Wave], blocks: list[Block], order: random.Random) -> None:
        """Each wave runs as far as the next barrier, in an order drawn anew for each stretch. Raises Runaway."""
        running = list(waves)
        while running:
            order.shuffle(running)
            waiting = [wave for wave in running if self._run_to_barrier(wave, blocks)]
            if waiting and len(waiting) != len(running):
                ended = len(running) - len(waiting)
                waiting[0].fault(
                    FaultKind.DIVERGED, blocks[waiting[0].resume - 1].last_line, f"{ended} waves ended without this barrier"
                )
            self.epoch += 1
            running = waiting

    def _run_to_barrier(self, wave: Wave, blocks: list[Block]) -> bool:
        """False if the wave has ended."""
        at = wave.resume
        executions = self.tally.executions
        while at >= 0:
            block = blocks[at]
            executions[at] += 1
            for step in block.steps:
                step(wave)
            wave.instructions += block.size
            if wave.instructions > self.device.most_instructions:
                raise Runaway(
                    f"gfx11 interpreter: a wave ran more than {self.device.most_instructions} instructions",
                    where=f"line {block.last_line} of the assembly",
                    hint="look for a loop that does not end, or allow more",
                )
            at = block.leave(wave)
        return at == BARRIER
