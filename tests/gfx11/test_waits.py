from __future__ import annotations

import numpy as np

from expctl.gfx11.machine.accesses import Access, AccessLog
from expctl.gfx11.machine.pieces import Pieces
from expctl.gfx11.machine.waits import Counter, Operation, Waits
from expctl.gfx11.machine.wave import Wave
from expctl.gfx11.single_instruction import execute, fresh_wave


def faults(text: str) -> list[tuple[str, int, int]]:
    wave = fresh_wave(buffers={"x": 4096}, lds_bytes=256)
    memory = wave.group.memory
    memory.fill("x", np.zeros(4096, dtype=np.uint8))
    wave.group.lds.undefined[:] = 0
    wave.group.lds.data[:] = 0
    address = memory.buffer("x").address
    scalars = {2: address & 0xFFFFFFFF, 3: address >> 32}
    execute(wave, text, vectors={0: [0], 4: [0]}, scalars=scalars)
    return [(fault.kind.value, fault.line, fault.other_line) for fault in wave.group.faults.all()]


def test_a_load_that_is_waited_for() -> None:
    assert faults("global_load_b32 v1, v0, s[2:3]\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v2, v1") == []


def test_a_load_that_is_not() -> None:
    wanted = [("missing wait", 2, 1)]
    assert faults("global_load_b32 v1, v0, s[2:3]\nv_mov_b32_e32 v2, v1") == wanted
    assert faults("ds_load_b32 v1, v0\nv_mov_b32_e32 v2, v1") == wanted
    assert faults("s_load_b32 s4, s[2:3], 0x0\nv_mov_b32_e32 v2, s4") == wanted
    assert faults("s_load_b32 s4, s[2:3], 0x0\ns_mov_b32 s5, s4") == wanted
    assert faults("ds_load_b32 v1, v0\nds_store_b32 v0, v1") == wanted
    assert faults("ds_load_b32 v1, v0\nds_load_b32 v2, v1") == wanted
    assert faults("ds_load_b32 v1, v0\nglobal_store_b32 v0, v1, s[2:3]") == wanted
    assert faults("ds_load_b128 v[8:11], v0\nv_wmma_f32_16x16x16_f16 v[16:23], v[4:11], v[4:11], 0") == wanted


def test_a_register_that_is_written_while_its_load_is_under_way() -> None:
    assert faults("global_load_b32 v1, v0, s[2:3]\nv_mov_b32_e32 v1, v0") == [("missing wait", 2, 1)]
    assert faults("global_load_b32 v1, v0, s[2:3]\nds_load_b32 v1, v0") == [("missing wait", 2, 1)]
    assert faults("global_load_b32 v1, v0, s[2:3]\nglobal_load_b32 v1, v0, s[2:3]") == []  # these return in order


def test_loads_from_memory_return_in_order() -> None:
    two = "global_load_b32 v1, v0, s[2:3]\nglobal_load_b32 v2, v0, s[2:3]\ns_waitcnt vmcnt(1)\n"
    assert faults(two + "v_mov_b32_e32 v3, v1") == []
    assert faults(two + "v_mov_b32_e32 v3, v2") == [("missing wait", 4, 2)]


def test_the_wrong_counter_proves_nothing() -> None:
    assert faults("ds_load_b32 v1, v0\ns_waitcnt vmcnt(0)\nv_mov_b32_e32 v2, v1") == [("missing wait", 3, 1)]
    assert faults("global_load_b32 v1, v0, s[2:3]\ns_waitcnt lgkmcnt(0)\nv_mov_b32_e32 v2, v1") == [("missing wait", 3, 1)]
    assert faults("ds_load_b32 v1, v0\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_mov_b32_e32 v2, v1") == []


def test_stores_do_not_count_with_loads() -> None:
    text = "global_load_b32 v1, v0, s[2:3]\nglobal_store_b32 v0, v4, s[2:3]\ns_waitcnt vmcnt(1)\nv_mov_b32_e32 v2, v1"
    assert faults(text) == [("missing wait", 4, 1)]


def test_scalar_loads_return_in_any_order() -> None:
    two = "s_load_b32 s4, s[2:3], 0x0\ns_load_b32 s5, s[2:3], 0x4\n"
    assert faults(two + "s_waitcnt lgkmcnt(1)\ns_mov_b32 s6, s4") == [("missing wait", 4, 1)]
    assert faults(two + "s_waitcnt lgkmcnt(0)\ns_mov_b32 s6, s4") == []


def test_lds_among_scalar_loads() -> None:
    """Three under way, one of them scalar: at 1 two have ended, one of which may be the scalar one."""
    waits = Waits()
    first, scalar, last = (Operation(line=i, counter=Counter.LGKM, in_order=i != 2) for i in (1, 2, 3))
    for operation in (first, scalar, last):
        waits.begin(operation)
    assert waits.wait(Counter.LGKM, 2) == []
    assert waits.wait(Counter.LGKM, 1) == [first]
    assert waits.wait(Counter.LGKM, 0) == [scalar, last]


def two_waves(first: Access, second: Access, *, first_writes: bool, second_writes: bool) -> bool:
    log, where = AccessLog([(0, 64)], shared=first.group != second.group), Pieces(np.arange(8), 1)
    for access, writes in ((first, first_writes), (second, second_writes)):
        ended, tag = access.ended, log.begin(access)
        found = (log.write if writes else log.read)(tag, where)
        if ended != access.begun:
            log.extend(tag)
            log.end(tag, ended)
    return bool(found)


def at(epoch: int, agent: int, *, group: int = 0, ended: int | None = None) -> Access:
    return Access(line=1, agent=agent, group=group, begun=epoch, ended=epoch if ended is None else ended)


def test_accesses_of_one_epoch_race_if_one_writes() -> None:
    for first_writes, second_writes in ((True, False), (False, True), (True, True)):
        assert two_waves(at(0, 1), at(0, 2), first_writes=first_writes, second_writes=second_writes)
        assert not two_waves(at(0, 1), at(1, 2), first_writes=first_writes, second_writes=second_writes)
        assert not two_waves(at(0, 1), at(0, 1), first_writes=first_writes, second_writes=second_writes)
        assert two_waves(at(0, 1, ended=1), at(1, 2), first_writes=first_writes, second_writes=second_writes)
        assert two_waves(at(0, 1), at(5, 9, group=1), first_writes=first_writes, second_writes=second_writes)
    assert not two_waves(at(0, 1), at(0, 2), first_writes=False, second_writes=False)


def test_the_other_reader_is_not_forgotten() -> None:
    """Wave 2 writes what it read last itself, but wave 1 read it too."""
    log, where = AccessLog([(0, 64)], shared=False), Pieces(np.arange(8), 1)
    for agent in (1, 2):
        log.read(log.begin(at(0, agent)), where)
    found = log.write(log.begin(at(0, 2)), where)
    assert [access.agent for access in found] == [1]


def test_a_read_that_outlasts_a_barrier_is_known_after_a_write_of_its_own_wave() -> None:
    log, where = AccessLog([(0, 64)], shared=False), Pieces(np.arange(8), 1)
    read = log.begin(at(0, 1))
    log.read(read, where)
    assert log.write(log.begin(at(0, 1)), where) == []
    log.extend(read)
    assert [access.agent for access in log.write(log.begin(at(1, 2)), where)] == [1]
    log.end(read, 1)
    assert log.write(log.begin(at(2, 3)), where) == []


def test_an_access_that_outlasts_a_barrier() -> None:
    wave: Wave = fresh_wave(lds_bytes=64)
    execute(wave, "ds_store_b32 v0, v1", vectors={0: [0], 1: [0]})
    wave.pass_barrier()
    wave.group.epoch += 1
    log = wave.group.lds.log
    later = log.begin(at(1, 7))
    assert [access.line for access in log.read(later, Pieces(np.arange(4), 1))] == [1]
    execute(wave, "s_waitcnt lgkmcnt(0)")
    wave.group.epoch += 1
    assert log.read(log.begin(at(2, 7)), Pieces(np.arange(4), 1)) == []
