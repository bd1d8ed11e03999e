"""What the waves of one workgroup share: LDS, the count of barriers passed, private memory, and the device of the launch."""

from __future__ import annotations

from dataclasses import dataclass

from expctl.gfx11.machine.accesses import Access, AccessLog
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
    most_instructions: int
    """A wave that executes more instructions raises Runaway."""


class Workgroup:
    """One workgroup. `index` is its number in the launch; `epoch` counts the barriers passed; `private[i]` is the memory of
    wave i.
    """

    def __init__(self, index: int, device: Device, *, lds_bytes: int, private_bytes: int, most_waves: int) -> None:
        self.index = index
        self.device = device
        self.memory, self.faults, self.tally = device.memory, device.faults, device.tally
        self.lds = Lds(lds_bytes, device.tally)
        self.private = [Private(private_bytes) for _ in range(most_waves)]
        self.most_waves = most_waves
        self.epoch = 0

    def access(self, line: int, wave: int) -> Access:
        """Return a new log entry for a memory access of wave number `wave` that begins and ends between two barriers."""
        agent = self.index * self.most_waves + wave
        return Access(line=line, agent=agent, group=self.index, begun=self.epoch, ended=self.epoch)
