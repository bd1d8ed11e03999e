"""Execute one instruction, or a few, on registers that the caller sets: used to check opcodes one by one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from expctl.gfx11.decode_program import decode_step
from expctl.gfx11.machine.accesses import AccessLog
from expctl.gfx11.machine.arrays import ALL_BITS, LANES
from expctl.gfx11.machine.counts import Tally
from expctl.gfx11.machine.faults import FaultLog
from expctl.gfx11.machine.memory import Memory
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.machine.workgroup import Device, Workgroup
from expctl.gfx11.text.program import Instruction


def fresh_wave(
    *, lanes: int = ALL_BITS, lds_bytes: int = 0, private_bytes: int = 0, buffers: Mapping[str, int] | None = None
) -> Wave:
    """Return a new wave, the only one of its workgroup, with undefined registers. `lanes` is its 32-bit EXEC mask; `buffers`
    maps the name of each buffer of global memory to its size in bytes.
    """
    memory = Memory(dict(buffers or {"nothing": 4}))
    device = Device(
        memory=memory,
        log=AccessLog(memory.regions(), shared=True),
        faults=FaultLog(),
        tally=Tally([]),
        most_instructions=1_000_000,
        most_work=1_000_000,
    )
    group = Workgroup(0, device, lds_bytes=lds_bytes, private_bytes=private_bytes, most_waves=1)
    return Wave(0, group, vector_registers=256, lanes=lanes)


def execute(
    wave: Wave, text: str, *, vectors: Mapping[int, Sequence[int]] | None = None, scalars: Mapping[int, int] | None = None
) -> Wave:
    """Set registers of `wave`, run each line of `text` as one instruction on it, and return `wave`.

    `vectors` maps a VGPR's number to 32-bit patterns, repeated to fill 32 lanes; `scalars` maps an SGPR's number to its value.
    Raises Unsupported for an instruction that is not implemented, and for branches and barriers.
    """
    for n, values in (vectors or {}).items():
        wave.define_vector(n, np.resize(np.array(values, dtype=np.uint32), LANES))
    for n, value in (scalars or {}).items():
        wave.define_scalar(n, value)
    with np.errstate(all="ignore"):
        for number, line in enumerate(text.strip().splitlines(), 1):
            mnemonic, _, rest = line.strip().partition(" ")
            step = decode_step(Instruction(line=number, mnemonic=mnemonic, rest=rest.strip()))
            if step is not None:
                step(wave)
    return wave
