"""Checks what `profile diff` says of pairs of files against the figures of `profile show`; shares no code with either.

    python -m benchmarks.profiles.check_diff [--pairs N] [--seed N] FOLDER...

Draws pairs of profiles below the folders. Every part of every sentence has to be of a known form, whose figures are computed
here from the counters, launches and times of both files, or it counts as unsupported. Ends with 1 if any part is unsupported.
"""

import argparse
import functools
import itertools
import json
import random
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

EXPCTL = Path(sys.executable).with_name("expctl")
Sides = tuple[dict[str, Any], dict[str, Any]]
CYCLES = "expctl__cycles_of_call"
LOADS = "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum"
USED = "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.ratio"
REQUESTS = ("l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "SQ_INSTS_VMEM_RD", "SQ_INSTS_TEX_LOAD")
INSTRUCTIONS = ("smsp__inst_executed.sum", "SQ_INSTS")
SPILLS = ("sass__inst_executed_register_spilling", "derived__local_spilling_requests")
CONFLICTS = "l1tex__data_bank_conflicts_pipe_lsu_mem_shared"
TURNS = "l1tex__data_pipe_lsu_wavefronts_mem_shared"
NUMBER = r"([\d.]+(?:e[+]\d+)?)"
PAIR = NUMBER + r" ?([kMG]?)(?: %| B)? -> " + NUMBER + r" ?([kMG]?)"


@functools.cache
def show(path: str) -> dict[str, Any]:
    """What `profile show` says of a file; empty if it is refused."""
    done = subprocess.run([EXPCTL, "profile", "show", path, "--json"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def counter(kernel: dict[str, Any], *names: str) -> float | None:
    """The first that the kernel has, or the one whose name starts so."""
    found = kernel.get("counters") or {}
    near = (value for name in names for key, value in found.items() if key == name or key.startswith(f"{name}."))
    return next(near, None)


def near(said: str, value: float | None, unit: str = "") -> bool:
    """Whether a printed number is `value`, as exact as its digits are."""
    if value is None:
        return False
    digits = len(said.partition(".")[2])
    scale = {"": 1.0, "k": 1e3, "M": 1e6, "G": 1e9}[unit]
    return bool(abs(float(said) - value / scale) <= max(0.51 * 10**-digits, 0.006 * float(said) if unit or digits == 0 else 0))


def ratio_of(sides: Sides, get: Callable[[dict[str, Any]], float | None]) -> float | None:
    """After / before."""
    before, after = map(get, sides)
    return after / before if before and after else None


def both(match: re.Match[str], sides: Sides, get: Callable[[dict[str, Any]], float | None]) -> bool:
    """Whether `A -> B` are this figure of both sides."""
    said = ((match[1], match[2]), (match[3], match[4]))
    return all(near(number, get(side), unit) for (number, unit), side in zip(said, sides, strict=True))


def spilled(kernel: dict[str, Any]) -> float | None:
    """Percent of the instructions."""
    spills, issued = counter(kernel, *SPILLS), counter(kernel, *INSTRUCTIONS)
    return None if spills is None or not issued else 100 * spills / issued


def occupancy(kernel: dict[str, Any]) -> float | None:
    """What fits, in percent."""
    found = kernel.get("occupancy")
    return 100 * found["waves_per_simd"] / found["most_waves_per_simd"] if found else None


def groups(kernel: dict[str, Any]) -> float | None:
    """Workgroups of the launch with the most time."""
    return max(kernel["launches"], key=lambda each: each["total_ns"])["groups"] if kernel["launches"] else None


def waiting(kernel: dict[str, Any], reason: str = "long_scoreboard") -> float | None:
    """Percent of their time that warps wait, for global or local memory unless another reason is given."""
    stalled = counter(kernel, f"smsp__average_warps_issue_stalled_{reason}_per_issue_active")
    whole = counter(kernel, "smsp__average_warp_latency_per_inst_issued")
    return None if stalled is None or not whole else 100 * stalled / whole


def at_barriers(kernel: dict[str, Any]) -> float | None:
    """Cycles that warps wait at barriers, over all warps."""
    stalled = counter(kernel, "smsp__average_warps_issue_stalled_barrier_per_issue_active")
    issued = counter(kernel, "smsp__inst_issued.sum", "smsp__inst_executed.sum")
    return None if stalled is None or issued is None else stalled * issued


def barrier_unit(kernel: dict[str, Any]) -> float | None:
    """What is proportional to the instructions of the unit that runs barriers: its use in percent, times cycles."""
    used, cycles = counter(kernel, "sm__inst_executed_pipe_adu.avg.pct_of_peak_sustained_elapsed"), counter(kernel, CYCLES)
    return None if used is None or cycles is None else used * cycles


def clock(kernel: dict[str, Any]) -> float | None:
    """MHz: cycles over time."""
    cycles = counter(kernel, CYCLES)
    return cycles / kernel["mean_ns"] * 1e3 if cycles else None


def extent(which: str) -> Callable[[dict[str, Any]], str]:
    """Grid or workgroup as text, without its last axes of size 1."""

    def text(kernel: dict[str, Any]) -> str:
        return re.sub(r"(?:x1)+$", "", "x".join(map(str, kernel[which] or ())))

    return text


def sectors_of_load(kernel: dict[str, Any]) -> float | None:
    """Sectors that one load instruction of a warp moves."""
    sectors, loads = counter(kernel, LOADS), counter(kernel, *REQUESTS)
    return sectors / loads if sectors and loads else None


def of_dram(kernel: dict[str, Any]) -> float | None:
    """Bytes read and written, in any unit."""
    parts = [counter(kernel, f"dram__bytes_{way}.sum") for way in ("read", "write")]
    kib = [counter(kernel, name) for name in ("FETCH_SIZE", "WRITE_SIZE")]
    known = [each for each in (*parts, *kib) if each is not None]
    return sum(known) if known else None


PIPES = {
    "multiply-adds": "fma", "integers and comparisons": "alu", "special functions and conversions": "xu",
    "double precision": "fp64", "matrix instructions": "tensor_op_hmma", "loads and stores": "lsu",
}  # fmt: skip
FIGURES: tuple[tuple[str, Callable[[dict[str, Any]], float | None]], ...] = (
    (f"registers spill: {PAIR} % of the instructions save and reload them", spilled),
    (f"at {PAIR} registers", lambda kernel: kernel["vgpr"]),
    (f"^{PAIR} registers", lambda kernel: kernel["vgpr"]),
    (f"^{PAIR} B of LDS", lambda kernel: kernel["lds_bytes"]),
    (f"occupancy {PAIR}", occupancy),
    (f"{PAIR} workgroups", groups),
    (f"measured {PAIR}", lambda kernel: counter(kernel, "sm__warps_active.avg.pct_of_peak_sustained_active")),
    (f"warps wait for global memory {PAIR} % of their time", waiting),
    (rf"as long at them \({PAIR} % of their time", lambda kernel: waiting(kernel, "barrier")),
    (f"scratch memory {PAIR}", lambda kernel: kernel["scratch_bytes"]),
    (f"for the same sectors, {PAIR} each", sectors_of_load),
    *(
        (f"the pipe for {words} is busy {PAIR}",
         lambda kernel, pipe=pipe: counter(kernel, f"sm__inst_executed_pipe_{pipe}.avg.pct_of_peak_sustained_active"))
        for words, pipe in PIPES.items()
    ),
    (f"the clock went from {PAIR.replace(' -> ', ' to ')} MHz", clock),
    (f"shared memory {PAIR}", lambda kernel: counter(kernel, CONFLICTS)),
    (f"global loads use {PAIR} of the 32 B", lambda kernel: counter(kernel, USED)),
)  # fmt: skip
TEXTS = (
    (r"problem: ([\dx]+) -> ([\dx]+) in the grid", extent("grid")),
    (r"workgroups of ([\dx]+) -> ([\dx]+)", extent("workgroup")),
)
RATIOS: tuple[tuple[str, Callable[[dict[str, Any]], float | None]], ...] = (
    (f"{NUMBER} times the instructions(?! of the unit)", lambda kernel: counter(kernel, *INSTRUCTIONS)),
    (f"(?:more|fewer) barriers: {NUMBER} times the instructions of the unit", barrier_unit),
    (f"warps wait {NUMBER} times(?= as long at them|###| ###)", at_barriers),
    (f"{NUMBER} times the (?:sectors|loads from global)", lambda kernel: counter(kernel, LOADS)),
    (f"{NUMBER} times the load instructions", lambda kernel: counter(kernel, *REQUESTS)),
    (f"{NUMBER} times the bytes from and to DRAM", of_dram),
    (f"{NUMBER} times the turns", lambda kernel: counter(kernel, TURNS)),
)  # fmt: skip


PERCENTS: tuple[tuple[str, Callable[[dict[str, Any]], float | None]], ...] = (
    (r"MHz \(([+-][\d.]+) %\)|### \(([+-][\d.]+) %\)", clock),
    (r"cycles change by only ([+-][\d.]+) %", lambda kernel: counter(kernel, CYCLES)),
)  # fmt: skip


def unsupported(words: str, sides: Sides) -> list[str]:
    """The forms in `words` whose figures aren't those of the two kernels, and all numbers that no form took."""
    bad, rest = [], re.sub(r"(\d+) B -> (\d+) B", r"\1 -> \2 B", words)
    for form, get in FIGURES:
        for match in re.finditer(form.replace("^", r"(?<=[ (])"), rest):
            bad += [] if both(match, sides, get) else [match[0]]
            rest = rest.replace(match[0], "#" * 3, 1)
    for form, text in TEXTS:
        for match in re.finditer(form, rest):
            bad += [] if tuple(map(text, sides)) == match.groups() else [match[0]]
            rest = rest.replace(match[0], "###", 1)
    for match in re.finditer(r"which is (\d+) % busy", rest):
        busy = [counter(each, "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed") or 0.0 for each in sides]
        bad += [] if near(match[1], max(busy)) else [match[0]]
        rest = rest.replace(match[0], "###", 1)
    for form, get in RATIOS:
        for match in re.finditer(form, rest):
            value = ratio_of(sides, get)
            bad += [] if value is not None and abs(float(match[1]) / value - 1) < 0.006 else [match[0]]
            rest = rest.replace(match[0], "#" * 3, 1)
    for form, get in PERCENTS:
        for match in re.finditer(form, rest):
            value = ratio_of(sides, get)
            said = float(next(filter(None, match.groups())))
            bad += [] if value is not None and abs(said - 100 * (value - 1)) < 0.06 else [match[0]]
            rest = rest.replace(match[0], "###", 1)
    numbers = re.findall(r"(?<![\w.])\d[\d.]*(?![\w.])", rest)
    return bad + ([f"no form for {numbers} in: {rest}"] if numbers else [])


def checked(before: str, after: str) -> tuple[int, list[str]]:
    """How many causes are given of a pair of files, and what is unsupported."""
    ran = subprocess.run([EXPCTL, "profile", "diff", before, after, "--json"], capture_output=True, text=True, check=False)
    if ran.returncode:
        return 0, [f"refused: {ran.stderr[:200]}"]
    told, shown = json.loads(ran.stdout), (show(before), show(after))
    causes = [each for each in told["pairs"] if each["cause"]]
    bad = ["a cause of profiles that can't be compared"] if told["why_not"] and (causes or told["why"]) else []
    for each in causes:
        kernels = [next(one for one in side["kernels"] if one["name"] == each[key])
                   for side, key in zip(shown, ("before", "after"), strict=True)]  # fmt: skip
        words = each["cause"]["words"]
        if words.startswith("it stands in place of"):
            bad += [] if each["before"] != each["after"] else [words]
            words = words.partition(": ")[2]
        bad += unsupported(words, (kernels[0], kernels[1]))
    why = told["why"]
    known = why and (
        any(each["cause"]["words"] in why["sentence"] for each in causes)
        or re.match(r"A pass is |.* is called .* times in a pass\.", why["sentence"])
    )
    if why and not known:
        bad.append(f"no pair has this cause: {why['sentence']}")
    return len(causes) + bool(why), bad


def main() -> int:
    """One line for each pair with anything unsupported, and the count."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=150)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("folders", nargs="+", type=Path)
    given = parser.parse_args()
    files = sorted(str(path) for folder in given.folders for path in folder.rglob("*") if path.is_file())
    read = [path for path in files if show(path).get("kernels")]
    pairs = list(itertools.permutations(read, 2))
    said = failed = 0
    for before, after in random.Random(given.seed).sample(pairs, min(given.pairs, len(pairs))):  # noqa: S311
        count, bad = checked(before, after)
        said, failed = said + count, failed + bool(bad)
        for each in bad:
            print(f"{before} {after}: {each}", flush=True)
    drawn = min(given.pairs, len(pairs))
    print(f"{drawn} pairs of {len(read)} profiles, {said} sentences; {failed} pairs with something unsupported")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
