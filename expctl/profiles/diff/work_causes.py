"""Rules that explain a change of a kernel's time by the instructions it executes and how they wait.

`slower` is time after / before; below 1 the kernel became faster, and a rule looks for the opposite change.
"""

import math

from expctl.profiles.diff.figures import count_text, times_text
from expctl.profiles.diff.kernel_evidence import PIPES, STALLS, KernelEvidence
from expctl.profiles.diff.noise import COUNT_PERCENT, differs, is_about, ratio

SCATTERED = 1.3
"""Least factor in sectors and in bytes used per sector; alignment and a few other loads change less."""
NARROWED = 1.5
FOR_A_LOAD = 30.0
"""Most instructions that one additional load may bring along: address, bounds check, storing the value."""
INSTRUCTIONS_PERCENT = 5.0
SAME_WORK_PERCENT = 5.0
MORE_BARRIERS = 1.25
MORE_WAITING = 1.2
WAVEFRONTS_PERCENT = 2.0
MAIN_SHARE = 0.6
"""Least share (0 to 1) of the whole increase that one reason must have to be named as the cause."""
SHARE_LEAST = 1 / 3
"""Least log(growth) / log(slowdown) for a figure to explain the time."""
HALF = 0.5
BUSY_DRAM_PERCENT = 50.0
MEMORY = "long_scoreboard"


def loads_scattered(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if scattered loads explain a slower kernel; else "". That is so if fewer bytes of each
    loaded sector are used, so that more sectors are loaded. For a faster kernel (`slower` < 1) it is the reverse.
    """
    used, sectors = ratio(before.bytes_used, after.bytes_used), ratio(before.load_sectors, after.load_sectors)
    if used is None or not _moves_with(1 / used, slower, SCATTERED) or not _moves_with(sectors, slower, SCATTERED):
        return ""
    return (
        f"global loads use {before.bytes_used:.0f} -> {after.bytes_used:.0f} of the 32 B of each sector and move"
        f" {times_text(sectors or 1.0)} the sectors: neighbouring lanes read"
        f" {'farther apart' if used < 1 else 'closer together'}"
    )


def loads_narrow(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if narrower loads explain a slower kernel; else "". That is so if more load instructions
    load the same number of sectors. For a faster kernel (`slower` < 1) it is the reverse.
    """
    requests, sectors = ratio(before.load_requests, after.load_requests), ratio(before.load_sectors, after.load_sectors)
    if requests is None or not is_about(sectors, SAME_WORK_PERCENT) or not _moves_with(requests, slower, NARROWED):
        return ""
    loads = (after.load_requests or 0.0) - (before.load_requests or 0.0)
    instructions = (after.instructions or 0.0) - (before.instructions or 0.0)
    if instructions / loads > FOR_A_LOAD:
        return ""
    return (
        f"{'narrower' if requests > 1 else 'wider'} global loads: {times_text(requests)} the load instructions for the same"
        f" sectors, {_per_load(before):.1f} -> {_per_load(after):.1f} each"
    )


def shared_conflicts(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if bank conflicts in shared memory explain a slower kernel; else "". That is so if the same
    number of accesses takes more cycles, mostly by conflicts. For a faster kernel (`slower` < 1) it is the reverse.
    """
    wavefronts = ratio(before.shared_wavefronts, after.shared_wavefronts)
    if not is_about(ratio(before.shared_requests, after.shared_requests), COUNT_PERCENT) or wavefronts is None:
        return ""
    if not differs(wavefronts, WAVEFRONTS_PERCENT) or (wavefronts > 1) != (slower > 1):
        return ""
    added = (after.shared_wavefronts or 0.0) - (before.shared_wavefronts or 0.0)
    conflicts = (after.conflicts or 0.0) - (before.conflicts or 0.0)
    if conflicts / added < MAIN_SHARE or math.log(wavefronts) / math.log(slower) < SHARE_LEAST:
        return ""
    known = None not in (before.lds_bytes, after.lds_bytes) and before.lds_bytes != after.lds_bytes
    layout = f" ({before.lds_bytes} -> {after.lds_bytes} B of LDS)" if known else ""
    return (
        f"bank conflicts in shared memory {count_text(before.conflicts)} -> {count_text(after.conflicts)}{layout} for the same"
        f" accesses, which take {times_text(wavefronts)} the turns"
    )


def barriers(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if barriers explain a slower kernel; else "". That is so if warps execute more barriers and
    wait longer at them, with the number of loads unchanged. For a faster kernel (`slower` < 1) it is the reverse.
    """
    count = ratio(before.barrier_pipe, after.barrier_pipe)
    wait = ratio(before.waits.get("barrier"), after.waits.get("barrier"))
    if count is None or wait is None or not _same_loads(before, after):
        return ""
    if not _moves_with(count, slower, MORE_BARRIERS) or not _moves_with(wait, slower, MORE_WAITING):
        return ""
    added = ((after.warp_cycles or 0.0) - (before.warp_cycles or 0.0)) * (1 if slower > 1 else -1)
    if abs(after.waits["barrier"] - before.waits["barrier"]) < MAIN_SHARE * added:
        return ""
    share = [100 * each.waits["barrier"] / each.warp_cycles for each in (before, after) if each.warp_cycles]
    shares = f" ({share[0]:.0f} -> {share[1]:.0f} % of their time)" if len(share) == 2 else ""
    return (
        f"{'more' if count > 1 else 'fewer'} barriers: {times_text(count)} the instructions of the unit that runs them, and"
        f" warps wait {times_text(wait)} as long at them{shares}"
    )


def instructions_explain_half(before: KernelEvidence, after: KernelEvidence, slower: float) -> bool:
    """Return whether more (or fewer) instructions, spills not counted, may explain half of a kernel's change of time. That is
    so if log(instructions after / before) is at least half of log(`slower`), where `slower` is time after / before.
    """
    if None in (before.spills, after.spills) and before.scratch_bytes != after.scratch_bytes:
        # All instructions include spills, which weren't counted here; vector arithmetic doesn't.
        arithmetic = ratio(before.arithmetic, after.arithmetic)
        return arithmetic is not None and differs(arithmetic, INSTRUCTIONS_PERCENT) and _explains_half(arithmetic, slower)
    code = [each.instructions - (each.spills or 0.0) if each.instructions else None for each in (before, after)]
    instructions = ratio(*code) if before.groups == after.groups else None
    if instructions is None or not differs(instructions, INSTRUCTIONS_PERCENT):
        return False
    return _explains_half(instructions, slower)


def _explains_half(grown: float, slower: float) -> bool:
    return math.log(grown) / math.log(slower) >= HALF


def busier_pipe(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if more instructions, with as many loads, explain a slower kernel; else "". The text names
    the pipe (kind of arithmetic unit) whose use grew most. For a faster kernel (`slower` < 1) it is the reverse.
    """
    instructions = ratio(before.instructions, after.instructions)
    if instructions is None or not differs(instructions, INSTRUCTIONS_PERCENT) or (instructions > 1) != (slower > 1):
        return ""
    if math.log(instructions) / math.log(slower) < MAIN_SHARE or before.groups != after.groups:
        return ""
    if any(differs(each, SAME_WORK_PERCENT) for each in _loads(before, after)):
        return ""
    changes = {name: after.pipes[name] - before.pipes[name] for name in before.pipes if name in after.pipes}
    words = f"{times_text(instructions)} the instructions"
    if any(each is not None for each in _loads(before, after)):
        words += " for the same loads"
    name = max(changes, key=lambda each: changes[each] * (1 if slower > 1 else -1), default="")
    if name and abs(changes[name]) >= 10 and (changes[name] > 0) == (slower > 1):
        words += f"; the pipe for {PIPES[name]} is busy {before.pipes[name]:.0f} -> {after.pipes[name]:.0f} %"
    return words


def traffic(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if more DRAM traffic, with DRAM at least 50 % busy, explains a slower kernel; else "". For a
    faster kernel (`slower` < 1) it is the reverse.
    """
    moved = ratio(before.dram_bytes, after.dram_bytes)
    busy = max(before.dram_percent or 0.0, after.dram_percent or 0.0)
    if moved is None or busy < BUSY_DRAM_PERCENT or not _moves_with(moved, slower, MORE_WAITING):
        return ""
    return f"{times_text(moved)} the bytes from and to DRAM, which is {busy:.0f} % busy"


def waiting(before: KernelEvidence, after: KernelEvidence, slower: float) -> str:
    """Return text about the change if memory latency explains a slower kernel; else "". That is so if warps wait longer for
    global memory, with instructions, occupancy and loads unchanged. For a faster kernel (`slower` < 1) it is the reverse.
    """
    same = (
        ratio(before.instructions, after.instructions),
        ratio(before.waves_percent, after.waves_percent),
        ratio(before.load_sectors, after.load_sectors),
    )
    if not all(is_about(each, SAME_WORK_PERCENT) for each in same) or not before.warp_cycles or not after.warp_cycles:
        return ""
    added = after.warp_cycles - before.warp_cycles
    mine, its = before.waits.get(MEMORY), after.waits.get(MEMORY)
    if mine is None or its is None or (added > 0) != (slower > 1):
        return ""
    if (its - mine) / added < MAIN_SHARE or not _moves_with(ratio(mine, its), slower, MORE_WAITING):
        return ""
    share = [100 * mine / before.warp_cycles, 100 * its / after.warp_cycles]
    return f"the same work, but warps wait for {STALLS[MEMORY]} {share[0]:.0f} -> {share[1]:.0f} % of their time"


def _moves_with(value: float | None, slower: float, least: float) -> bool:
    """Return whether `value` (after / before) is at least `least` if `slower` > 1, and at most 1 / `least` otherwise."""
    return value is not None and (value >= least if slower > 1 else value <= 1 / least)


def _loads(before: KernelEvidence, after: KernelEvidence) -> tuple[float | None, ...]:
    return ratio(before.load_requests, after.load_requests), ratio(before.shared_requests, after.shared_requests)


def _same_loads(before: KernelEvidence, after: KernelEvidence) -> bool:
    return all(is_about(each, SAME_WORK_PERCENT) for each in _loads(before, after))


def _per_load(evidence: KernelEvidence) -> float | None:
    return (
        evidence.load_sectors / evidence.load_requests if evidence.load_sectors is not None and evidence.load_requests else None
    )
