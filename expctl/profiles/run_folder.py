"""Read the files of a folder that belong to one run of a program, so that no dispatch counts twice."""

import os
import re
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.profiles.detect_format import read_file
from expctl.profiles.model.kernel_profile import Device, Source
from expctl.profiles.raw import refusals
from expctl.profiles.raw.profile import RawProfile
from expctl.profiles.readers.rocprof.agents import AgentList, assign_agents

FILES_MOST = 2000
_UNREAD = (
    ".txt", ".log", ".md", ".py", ".sh", ".yaml", ".yml", ".html", ".png", ".svg", ".pftrace", ".otf2",
)  # fmt: skip
# The first of these formats in a folder gives the times. Files of the others repeat them, or add counters.
_ORDER = (
    Source.ROCPD, Source.ROCPROF_JSON, Source.ROCPROF_CSV, Source.NSYS, Source.TORCH, Source.NCU_RAW, Source.NCU_DETAILS,
    Source.ROCPROF_STATS, Source.ROCPROF_COUNTERS,
)  # fmt: skip
_COUNTING = (Source.ROCPROF_COUNTERS, Source.NCU_RAW, Source.NCU_DETAILS)
_OF_ROCPROF_COMPUTE = (
    "rocprofv3 --kernel-trace --pmc FETCH_SIZE WRITE_SIZE --output-format csv -d OUT -- PROGRAM, then name OUT;"
    " rocprof-compute analyze -p FOLDER shows this one"
)
_PASS_OF_ROCPROF_COMPUTE = re.compile(r"pmc_perf(?:_\d+)?\.csv")
_PASS = re.compile(r"(?:pmc|pass)_(\d+)")
"""Matches the folder of one repetition of the program, which rocprofv3 runs once for each group of counters."""


@dataclass(slots=True, kw_only=True)
class Run:
    """Data of one program run: `timed` gives the times, `counted` only counters, `summaries` statistics to check the times.
    `copies` are files with memory copies alone, `agents` the GPUs by name.
    """

    timed: list[RawProfile]
    counted: list[RawProfile] = field(default_factory=list)
    summaries: list[RawProfile] = field(default_factory=list)
    copies: list[RawProfile] = field(default_factory=list)
    agents: dict[str, Device] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def read_run(path: Path) -> Run:
    """Return the data of one program run from the profiler's file or folder `path`. Raises Refused for a file that is
    unreadable, damaged or no profile.
    """
    try:
        folder, special = path.is_dir(), path.exists() and not path.is_file()
    except OSError as error:
        raise refusals.unreadable(path, error) from error
    if folder:
        return _folder(path)
    if special:
        raise refusals.unknown(path, "a pipe or a device", "write its output to a file, and name that file")
    contents = read_file(path)
    if contents.agents is not None:
        raise refusals.no_kernels(
            path, "a list of the machine's agents", "give kernel_trace.csv of the same run, or the folder"
        )
    return Run(timed=list(contents.gathered))


def _folder(path: Path) -> Run:
    found: list[RawProfile] = []
    lists: list[AgentList] = []
    hint = ""
    files, aside = _files(path)
    for file in files:
        try:
            contents = read_file(file)
        except Refused as refusal:
            if refusal.code in {"profile-damaged", "file-not-readable"}:
                raise
            aside.append(f"{file.relative_to(path)}: {refusal.found}")
            hint = hint or refusal.hint
            continue
        found += contents.gathered
        if contents.agents is not None:
            lists.append(AgentList(file=file, agents=contents.agents))
    kernels = [each for each in found if each.has_kernels]
    if not kernels and not found:
        if any(_PASS_OF_ROCPROF_COMPUTE.fullmatch(file.name) for file in files):
            raise refusals.unknown(path, "a folder of rocprof-compute (counters of many passes), not read", _OF_ROCPROF_COMPUTE)
        seen = "; ".join(aside[:4]) or "no file that could be one"
        raise refusals.unknown(path, f"a folder with {seen}", hint or "name the profile itself, or profile again")
    run = _chosen(kernels)
    run.copies = list({_transfers(each): each for each in found if not each.has_kernels}.values())
    run.agents = assign_agents([*run.timed, *run.counted], lists, path)
    run.notes += [f"left aside: {each}" for each in aside]
    return run


def _files(path: Path) -> tuple[list[Path], list[str]]:
    """Return all files below `path` that may be profiles, and a line of text on each link, pipe or device that is skipped.
    Raises Refused for more than 2000 files, and for a folder that can't be listed.
    """

    def refuse(error: OSError) -> None:
        raise refusals.unreadable(Path(error.filename), error) from error

    found, aside = [], []
    for folder, folders, names in os.walk(path, onerror=refuse):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        links = [each for name in folders if (each := Path(folder, name)).is_symlink()]
        aside += [f"{each.relative_to(path)}: a link to a folder, not followed" for each in links]
        for name in sorted(names):
            file = Path(folder, name)
            if name.startswith(".") or name.endswith(("-wal", "-shm", "-journal", *_UNREAD)):
                continue
            if file.is_file():
                found.append(file)
            else:
                what = "a pipe or a device" if file.exists() else "a link to nothing"
                aside.append(f"{file.relative_to(path)}: {what}")
        if len(found) > FILES_MOST:
            raise refusals.unknown(path, f"a folder of more than {FILES_MOST} files", "name the folder of one run")
    return found, aside


def _chosen(kernels: Sequence[RawProfile]) -> Run:
    if not kernels:
        return Run(timed=[])
    best = min((each.source for each in kernels), key=_ORDER.index)
    first = min(_pass_of(each.file) for each in kernels if each.source is best)
    run = Run(timed=[])
    identities: dict[Hashable, str] = {}
    for each in kernels:
        if each.source is best and _pass_of(each.file) != first:
            run.counted.append(each)
            run.notes.append(
                f"{_short(each.file)}: a repetition of the program to collect counters; its calls and times are not added"
            )
        elif each.source is best:
            identity = each.identity or _contents(each)
            if identity in identities:
                run.notes.append(f"{_short(each.file)}: the same process as {identities[identity]}, counted once")
                continue
            identities[identity] = _short(each.file)
            run.timed.append(each)
        elif each.source in _COUNTING and best is not Source.NCU_RAW:
            run.counted.append(each)
            run.notes.append(f"{Path(each.file).name}: gives counters; its times come from another pass and are not added")
        elif each.source is Source.ROCPROF_STATS:
            run.summaries.append(each)
        else:
            run.notes.append(f"{Path(each.file).name}: {each.source}, left aside: times come from the {best}")
    if len(run.timed) > 1:
        run.notes.append(
            f"{len(run.timed)} processes or files are added up: {', '.join(Path(each.file).name for each in run.timed[:6])}"
        )
    return run


def _contents(each: RawProfile) -> Hashable:
    """Return all totals of a profile. If two files have equal ones, one is taken as a copy of the other. It is used for tools
    that write no process id.
    """
    times = [(each.launches[key].kernel, len(found), sum(found)) for key, found in each.timing.durations.items()]
    counted = [(kernel, name, value.total) for kernel, names in each.counters.items() for name, value in names.items()]
    spans = [(device, interval.starts[0], interval.ends[-1]) for device, interval in each.timing.intervals.items()]
    return frozenset(times), frozenset(counted), frozenset(spans), frozenset(each.statistics.items())


def _transfers(each: RawProfile) -> Hashable:
    return frozenset((name, moved.calls, moved.total_ns) for name, moved in each.copies.items())


def _pass_of(file: str) -> int:
    """Return the number n of the folder `pmc_<n>` or `pass_<n>` that contains `file`; 0 outside such folders. rocprofv3 writes
    one such folder each time that it runs the program again for more counters.
    """
    return next((int(found[1]) for part in reversed(Path(file).parts[:-1]) if (found := _PASS.fullmatch(part))), 0)


def _short(file: str) -> str:
    return "/".join(Path(file).parts[-2:])
