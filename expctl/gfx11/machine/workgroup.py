"""What the waves of one workgroup share: LDS, the count of barriers passed, private memory, and the device of the launch."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from expctl.gfx11.machine.accesses import Access, AccessLog
from expctl.gfx11.machine.clocks import Clocks
from expctl.gfx11.machine.counts import Tally
from expctl.gfx11.machine.faults import FaultLog
from expctl.gfx11.machine.lds import Lds
from expctl.gfx11.machine.memory import Memory
from expctl.gfx11.machine.private import Private


@dataclass(slots=True, kw_only=True)
class Device:
    """What all workgroups of a launch share: global memory and its access log, faults, counters, the limit of instructions."""

    memory: Memory
    log: AccessLog
    """Accesses to global memory."""
    faults: FaultLog
    tally: Tally
    clocks: Clocks | None = None
    """Of a kernel with atomics."""
    most_instructions: int
    """A wave that executes more instructions raises Runaway."""
    most_work: int
    """A workgroup whose blocks take more work in all raises Runaway."""


class Workgroup:
    """One workgroup. `index` is its number in the launch; `epoch` counts the barriers passed; `private[i]` is the memory of
    wave i.
    """

    def __init__(self, index: int, device: Device, *, lds_bytes: int, private_bytes: int, most_waves: int) -> None:
        self.index = index
        self.device = device
        self.memory, self.faults, self.tally = device.memory, device.faults, device.tally
        self.lds = Lds(lds_bytes, device.tally, device.clocks)
        self.private = [Private(private_bytes) for _ in range(most_waves)]
        self.most_waves = most_waves
        self.epoch = 0
        self.work = 0

    def access(self, line: int, wave: int) -> Access:
        """Return a new log entry for a memory access of wave number `wave` that begins and ends between two barriers."""
        agent, clocks = self.agent(wave), self.device.clocks
        stamp = clocks.stamp(agent) if clocks is not None else 0
        return Access(line=line, agent=agent, group=self.index, begun=self.epoch, ended=self.epoch, stamp=stamp)

    def agent(self, wave: int) -> int:
        """Return the number in the launch of wave number `wave`."""
        return self.index * self.most_waves + wave

    def meet(self, waves: Iterable[int]) -> None:
        """Record that these waves met at a barrier."""
        self.epoch += 1
        if self.device.clocks is not None:
            self.device.clocks.meet(map(self.agent, waves))
