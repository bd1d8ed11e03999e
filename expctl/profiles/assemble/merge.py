"""Make one profile from the data of all files: kernels grouped by name, corrected and classified, and busy time per GPU."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from expctl.domain.text import one_line
from expctl.profiles.assemble.classify import classify
from expctl.profiles.assemble.devices import by_numbers, known_devices
from expctl.profiles.assemble.launches import launches_of
from expctl.profiles.model.kernel_profile import Copy, Device, GridUnit, Kernel, Profile, Source, Timeline, Track
from expctl.profiles.model.origin import Origin
from expctl.profiles.raw.dispatch_stats import LAUNCH_GAP_MOST_NS, Intervals, median, repeat_deviation, sample_deviation
from expctl.profiles.raw.profile import CopyTotals, CounterTotals, RawLaunch, RawProfile, Statistic
from expctl.profiles.raw.sanity_limits import check_limits
from expctl.profiles.roofline.reported_registers import RegisterRules, register_rules
from expctl.profiles.run_folder import Run

ROCPROF = (Source.ROCPD, Source.ROCPROF_CSV, Source.ROCPROF_JSON, Source.ROCPROF_COUNTERS)


@dataclass(slots=True)
class _Group:
    durations: list[list[int]] = field(default_factory=list)
    raws: list[tuple[RawLaunch, GridUnit, RegisterRules, int, int | None]] = field(default_factory=list)
    untimed: int = 0
    statistics: list[Statistic] = field(default_factory=list)


def assemble(path: Path, run: Run, arch: str) -> Profile:
    """Return one profile from the data of all files in `run`; a non-empty `arch` replaces the GPU that the files name. `path`
    is the file or folder that the user gave. Raises Refused for times and counters that no GPU reaches.
    """
    parts = run.timed
    for each in (*parts, *run.counted):
        each.timing.finish()
    limit_notes = [note for each in (*parts, *run.counted, *run.copies, *run.summaries) for note in check_limits(each)]
    devices, notes = known_devices(parts, run.agents, arch)
    rules = _register_rules(parts, devices)
    groups = _groups(parts, devices, rules)
    counters = _counters((*parts, *run.counted))
    origins = _origins(parts)
    timed = [
        replace(_kernel(name, group, counters.get(name, {}), origins.get(name, ())), place=None if group.statistics else place)
        for place, (name, group) in enumerate(groups.items())
    ]
    total = sum(kernel.total_ns or 0 for kernel in timed)
    for each in parts:
        if each.timing.impossible:
            notes.append(
                f"times: {each.timing.impossible} dispatches end before they begin, or have no times (0 to 0), and are left "
                f"out ({Path(each.file).name})"
            )
    for each in (*parts, *run.copies):
        if each.impossible_copies:
            notes.append(f"copies: {each.impossible_copies} end before they begin and are left out ({Path(each.file).name})")
    notes += limit_notes
    notes += [note for each in rules.values() for note in each.notes]
    notes += [note for each in parts for note in each.notes] + run.notes + _compare_with_summaries(parts, run.summaries)
    notes += _unmatched_counters(sorted(counters.keys() - groups.keys()))
    kernels = sorted(
        (_with_share(kernel, total) for kernel in timed), key=lambda each: (-(each.total_ns or 0), -each.calls, each.name)
    )
    everything = (*parts, *run.counted, *run.summaries, *run.copies)
    return Profile(
        path=str(path),
        source=parts[0].source if parts else Source.ROCPROF_CSV,
        files=tuple(dict.fromkeys(each.file for each in everything)),
        grid_unit=parts[0].grid_unit if parts else GridUnit.WORK_ITEMS,
        devices=tuple(sorted(dict.fromkeys(devices.values()), key=lambda each: by_numbers(each.name))),
        kernels=tuple(kernels),
        total_ns=total,
        calls=sum(kernel.calls for kernel in kernels),
        timelines=_timelines(parts, path),
        tracks=_tracks(parts, path, {kernel.name: place for place, kernel in enumerate(kernels)}),
        copies=_copies((*parts, *run.copies)),
        notes=tuple(dict.fromkeys(notes)),
        missing=tuple(dict.fromkeys(line for each in parts for line in each.missing)),
    )


def _register_rules(parts: Sequence[RawProfile], devices: Mapping[str, Device]) -> dict[str, RegisterRules]:
    """Return, for each architecture, the rules by which its reported register counts are corrected. Only rocprofv3's counts
    need correction, so files of other tools are ignored.
    """
    raws = [raw for part in parts if part.source in ROCPROF for raw in part.launches.values()]
    archs = dict.fromkeys(devices[raw.device].arch for raw in raws)
    return {
        arch: register_rules(arch, [(raw.vgpr, raw.accum, raw.sgpr) for raw in raws if devices[raw.device].arch == arch])
        for arch in archs
    }


def _groups(
    parts: Sequence[RawProfile], devices: Mapping[str, Device], rules: Mapping[str, RegisterRules]
) -> dict[str, _Group]:
    groups: dict[str, _Group] = {}
    for part in parts:
        for key, raw in part.launches.items():
            durations = part.timing.durations.get(key)
            calls = (len(durations) if durations else 0) + part.untimed.get(key, 0)
            if not calls:
                continue
            group = groups.setdefault(raw.kernel, _Group())
            how = rules.get(devices[raw.device].arch, RegisterRules()) if part.source in ROCPROF else RegisterRules()
            group.raws.append((raw, part.grid_unit, how, calls, sum(durations) if durations else None))
            group.untimed += part.untimed.get(key, 0)
            if durations:
                group.durations.append(durations)
        for name, statistic in part.statistics.items():
            groups.setdefault(name, _Group()).statistics.append(statistic)
    return groups


def _origins(parts: Sequence[RawProfile]) -> dict[str, tuple[Origin, ...]]:
    found: dict[str, list[Origin]] = {}
    for part in parts:
        for name, origins in part.origins.items():
            found.setdefault(name, []).extend(origins)
    return {name: tuple(sorted(origins, key=lambda each: -each.total_ns)) for name, origins in found.items()}


def _kernel(name: str, group: _Group, counters: Mapping[str, float], origins: tuple[Origin, ...]) -> Kernel:
    kind = classify(name, origins[0].operators if origins else ())
    launches = launches_of(group.raws)
    if group.statistics:
        return replace(_of_statistics(name, group.statistics), counters=counters)
    ordered = group.durations[0] if len(group.durations) == 1 else [each for part in group.durations for each in part]
    if not ordered:
        return Kernel(name=name, kind=kind, calls=group.untimed, launches=launches, counters=counters)
    ordered.sort()
    total = sum(ordered)
    deviation = sample_deviation(ordered, total)
    return Kernel(
        name=name,
        kind=kind,
        calls=len(ordered) + group.untimed,
        total_ns=total,
        mean_ns=total / len(ordered),
        min_ns=ordered[0],
        median_ns=median(ordered),
        max_ns=ordered[-1],
        sd_ns=deviation,
        repeat_sd_ns=deviation if len(group.durations) == 1 else repeat_deviation(group.durations),
        launches=launches,
        counters=counters,
        origins=origins,
    )


def _of_statistics(name: str, statistics: Sequence[Statistic]) -> Kernel:
    """Return a kernel whose figures are the tool's own statistics, of which there is one per process. With several processes,
    the standard deviation is None, because it can't be combined.
    """
    calls, total = sum(each.calls for each in statistics), sum(each.total_ns for each in statistics)
    least = [each.min_ns for each in statistics if each.min_ns is not None]
    most = [each.max_ns for each in statistics if each.max_ns is not None]
    return Kernel(
        name=name,
        kind=classify(name),
        calls=calls,
        total_ns=total,
        mean_ns=statistics[0].mean_ns if len(statistics) == 1 else total / calls,
        min_ns=min(least, default=None),
        max_ns=max(most, default=None),
        sd_ns=statistics[0].sd_ns if len(statistics) == 1 else None,
    )


def _with_share(kernel: Kernel, total: int) -> Kernel:
    return kernel if kernel.total_ns is None or not total else replace(kernel, share_percent=100 * kernel.total_ns / total)


def _counters(parts: Iterable[RawProfile]) -> dict[str, dict[str, float]]:
    sums: dict[str, dict[str, CounterTotals]] = {}
    for part in parts:
        for kernel, counted in part.counters.items():
            for name, each in counted.items():
                into = sums.setdefault(kernel, {}).setdefault(name, CounterTotals())
                into.total += each.total
                into.calls += each.calls
    return {
        kernel: {name: each.total / each.calls for name, each in counted.items() if each.calls}
        for kernel, counted in sums.items()
    }


def _unmatched_counters(kernels: Sequence[str]) -> list[str]:
    """Return a note that `kernels` have counters but no dispatch; [] if there are none. The cause may be that the tool writes
    their names in two ways.
    """
    if not kernels:
        return []
    shown = ", ".join(one_line(name, 60) for name in kernels[:3]) + (", ..." if len(kernels) > 3 else "")
    return [f"counters of {len(kernels)} kernel{'s' * (len(kernels) > 1)} have no dispatch here: {shown}"]


def _timelines(parts: Sequence[RawProfile], path: Path) -> tuple[Timeline, ...]:
    owners = _owners(parts, path)
    intervals: dict[str, Intervals] = {}
    for part, owner in zip(parts, owners, strict=True):
        for device, interval in part.timing.intervals.items():
            if not interval.dispatches:
                continue
            name = f"{owner} {device}".strip()
            intervals[name] = intervals[name].join(interval) if name in intervals else interval
    return tuple(_timeline(name, intervals[name]) for name in sorted(intervals, key=by_numbers))


def _tracks(parts: Sequence[RawProfile], path: Path, places: Mapping[str, int]) -> tuple[Track, ...]:
    found = []
    for owner, part in zip(_owners(parts, path), parts, strict=True):
        names = [part.launches[key].kernel for key in part.timing.numbers]
        for device, interval in part.timing.intervals.items():
            if interval.keys:
                kernels = [places[names[number]] for number in interval.keys]
                name = f"{owner} {device}".strip()
                found.append(Track(device=name, starts=interval.starts, ends=interval.ends, kernels=kernels))
    return tuple(sorted(found, key=lambda each: by_numbers(each.device)))


def _owners(parts: Sequence[RawProfile], path: Path) -> list[str]:
    """Return a prefix for the GPU names of each part (data of one process), so that no two GPUs get the same name.

    It is the host, file or folder; "" where names are unique already. Several files of torch.profiler or nsys always get one,
    because their clocks start anew in each session.
    """
    hosts, files = {part.host for part in parts}, [Path(part.file) for part in parts]
    if len(hosts) > 1:
        return [part.host for part in parts]
    if len(parts) > 1 and parts[0].source in (Source.TORCH, Source.NSYS):
        unique = len({file.name for file in files}) == len(files)
        return [file.name if unique else str(file.relative_to(path)) for file in files]
    if parts and parts[0].source is Source.ROCPROF_CSV and len({file.parent.name for file in files}) > 1:
        return [
            "" if part.devices or file.parent == path else file.parent.name for part, file in zip(parts, files, strict=True)
        ]
    return [""] * len(parts)


def _timeline(name: str, interval: Intervals) -> Timeline:
    span, gaps = interval.span_and_gaps()
    return Timeline(
        device=name,
        dispatches=interval.dispatches,
        span_ns=span,
        busy_ns=span - gaps.total_ns,
        gaps=gaps.number,
        launch_gaps=gaps.short,
        launch_gap_ns=gaps.short_ns,
        longest_gap_ns=gaps.longest_ns,
        launch_gap_most_ns=LAUNCH_GAP_MOST_NS,
    )


def _copies(parts: Iterable[RawProfile]) -> tuple[Copy, ...]:
    sums: dict[str, CopyTotals] = {}
    for part in parts:
        for name, each in part.copies.items():
            into = sums.setdefault(name, CopyTotals())
            into.calls += each.calls
            into.total_ns += each.total_ns
            if each.total_bytes is not None:
                into.total_bytes = (into.total_bytes or 0) + each.total_bytes
    copies = (
        Copy(name=name, calls=each.calls, total_ns=each.total_ns, total_bytes=each.total_bytes) for name, each in sums.items()
    )
    return tuple(sorted(copies, key=lambda each: -each.total_ns))


def _compare_with_summaries(parts: Sequence[RawProfile], summaries: Sequence[RawProfile]) -> list[str]:
    """Return a note on whether the tool's own statistics have the same calls and total time per kernel as the dispatches.
    Returns [] without such statistics (`summaries`).
    """
    if not summaries:
        return []
    calls: dict[str, list[int]] = {}
    for part in parts:
        for key, durations in part.timing.durations.items():
            seen = calls.setdefault(part.launches[key].kernel, [0, 0])
            seen[0] += len(durations)
            seen[1] += sum(durations)
    stated: dict[str, list[int]] = {}
    for each in summaries:
        for name, statistic in each.statistics.items():
            seen = stated.setdefault(name, [0, 0])
            seen[0] += statistic.calls
            seen[1] += statistic.total_ns
    differ = [name for name in calls.keys() | stated.keys() if calls.get(name) != stated.get(name)]
    names = ", ".join(Path(each.file).name for each in summaries)
    if not differ:
        return [f"{names}: agrees with the dispatches in calls and total of all {len(calls)} kernels"]
    return [
        f"{names}: differs from the dispatches in {len(differ)} of {len(calls | stated)} kernels, for one "
        f"{sorted(differ)[0][:80]}"
    ]
