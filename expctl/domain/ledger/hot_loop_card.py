"""The hot-loop card, in sentences: where the loop is, what it executes, what bounds it, what each KEEP changed. Pure."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from types import MappingProxyType
from typing import TYPE_CHECKING

from msgspec import Struct

from expctl.domain.experiment.figures import speed_text
from expctl.domain.experiment.ids import id_order
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.rivals import Rivals, Role, speed_ratio
from expctl.domain.history.build_differences import NOTHING_NEW
from expctl.domain.text import one_line

if TYPE_CHECKING:
    from expctl.domain.experiment.hot_loop import CountedLoop, HotLoop, LoopLine
    from expctl.domain.experiment.record import Fact, Record
    from expctl.domain.history.baselines import Baseline, Figure, ImportedBaseline
    from expctl.domain.ledger.record_summary import RecordSummary
    from expctl.domain.ledger.rows import Row
    from expctl.domain.protocol.model import Benchmark, Protocol

LOADS, PRODUCTS = "hot loop loads", "hot loop vector multiply-adds"
"""Names of facts of a profile step from which the bound of a CPU's loop follows."""
LINE = "line"
"""Unit of facts that name a line of the source, from and to."""
KEEPS = 5
COSTLY = 6
CHANGE_MAX = 420


class HotLoopCard(Struct, frozen=True, kw_only=True):
    """What is known of one target's hot loop. `lines` are sentences; `costly` are those on the lines of the source with most
    instructions; `files` are the files of the loop, the one with most instructions first. `counted` is False where the loop of
    this code wasn't counted; the lines then say so, and are of earlier code where that was.
    """

    target: str
    counted: bool
    lines: tuple[str, ...]
    costly: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def newest_keeps(found: Iterable[Row | RecordSummary]) -> tuple[str, ...]:
    """Return the ids of the last measured KEEPs, newest first."""
    kept = [each for each in found if each.verdict is Verdict.KEEP and not each.imported]
    return tuple(each.id for each in sorted(kept, key=lambda each: (each.date, id_order(each.id)), reverse=True)[:KEEPS])


def keep_changes(records: Sequence[Record]) -> tuple[str, ...]:
    """Return for each KEEP what it changed in builds and profile, e.g. `P16 on cpu: hot loop instructions 55 -> 37 (-32.7 %)`.
    What stayed as it was is left out.
    """
    return tuple(f"{each.id} on {each.target} ({one_line(each.title, 60)}): {_changed(each)}" for each in records)


def _changed(record: Record) -> str:
    if record.buckets:
        return "the tables of configs alone"
    parts: dict[str, None] = {}  # targets that share a build say the same of it
    for text in record.profile:
        if not any(text.endswith(each) for each in NOTHING_NEW):
            parts |= dict.fromkeys(part for part in text.split(", ") if "->" in part or "nothing" in part)
    return one_line("; ".join(parts), CHANGE_MAX) if parts else "no figure of builds or profile changed"


def cards(
    protocol: Protocol,
    found: Sequence[HotLoop],
    baselines: Sequence[Baseline],
    rivals: Sequence[Rivals],
    given: Sequence[ImportedBaseline] = (),
    kept: Sequence[Record] = (),
    absent: Mapping[str, str] = MappingProxyType({}),
) -> tuple[HotLoopCard, ...]:
    """Return a card of each target with `hot_loop` in the protocol; `found` are the loops of this code, or stale ones, `given`
    what an imported ledger says of targets, `kept` the last KEEPs, newest first. `absent` says what a target lacks here.
    """
    loops = {each.target: each for each in found}
    standing, beside = {each.target: each for each in baselines}, {each.target: each for each in rivals}
    by_hand = {each.target: each.id for each in given}
    made = []
    for name, target in protocol.targets.items():
        if target.hot_loop is None:
            continue
        home = target.stands_for or name
        known = loops.get(name)
        config = f"Config: {target.hot_loop.config}." if target.hot_loop.config else ""
        loop = known.loop if known is not None else None
        timed = (
            *(_last_profile(protocol, home, kept) if known is None else ()),
            *_bound(protocol, home, standing.get(home), by_hand.get(home, ""), loop),
            f"Rival on {home}: {_rival(beside.get(home), _main_size(protocol, home))}.",
        )
        if known is None:
            lines = tuple(filter(None, (config, _uncounted(absent.get(name, "")), *timed)))
            made.append(HotLoopCard(target=name, counted=False, lines=lines))
            continue
        stale = _stale(known, absent.get(name, "")) if known.stale else ()
        said = _executes(loop) if loop else _facts(known)
        lines = tuple(filter(None, (*stale, *_where(known, home), config, *said, *timed)))
        ranked = sorted(loop.lines, key=lambda each: -each.all)[:COSTLY] if loop else []
        files = tuple(_by_file(loop.lines)) if loop else _files_of_facts(known)
        made.append(
            HotLoopCard(
                target=name, counted=not known.stale, lines=lines, costly=tuple(_costly(each) for each in ranked), files=files
            )
        )
    return tuple(made)


def _uncounted(lacks: str) -> str:
    if lacks:
        return f"Its hot loop is unavailable here: {lacks}. Where that is, `expctl brief --count` counts it; nothing is timed."
    return "The hot loop of this code was not counted yet: `expctl brief --count` does (seconds, nothing is timed)."


def _stale(known: HotLoop, lacks: str) -> tuple[str, str]:
    again = f"it can't be counted again here: {lacks}" if lacks else "`expctl brief --count` counts it"
    return f"STALE, counted at {known.head[:12]}.", f"The code has changed since; {again}."


def _last_profile(protocol: Protocol, home: str, kept: Sequence[Record]) -> Iterator[str]:
    """Yield the figures of the last KEEP that was profiled on the target `home`; those of other targets begin with a name."""
    for record in kept:
        own = [text for text in record.profile if not any(text.startswith(f"{name}: ") for name in protocol.targets)]
        if record.target == home and own:
            yield f"Last profile on {home}, {record.id}: {one_line('; '.join(own), CHANGE_MAX)}."
            return


def _where(known: HotLoop, home: str) -> Iterator[str]:
    stands = f" (machine code of {home})" if home != known.target else ""
    loop = known.loop
    if loop is None:
        machine = known.counted_on or "an unknown machine"
        yield f"Counted at {known.head[:12]} on {machine}, by the profile step of {known.target}."
        return
    at = "; ".join(f"{file} lines {_ranges([each.line for each in lines])}" for file, lines in _by_file(loop.lines).items())
    at = at or "the assembly has no line table"
    by = f", {known.counted_on}" if known.counted_on else ""
    yield f"Hot loop of {loop.kernel}{stands}: {at}. Counted at {known.head[:12]}{by}."


def _by_file(lines: Sequence[LoopLine]) -> dict[str, list[LoopLine]]:
    found: defaultdict[str, list[LoopLine]] = defaultdict(list)
    for each in lines:
        found[each.file].append(each)
    return dict(sorted(found.items(), key=lambda item: -sum(each.all for each in item[1])))


def _ranges(numbers: Sequence[int]) -> str:
    return ", ".join(str(each) for each in sorted(numbers))


def _executes(loop: CountedLoop) -> Iterator[str]:
    per = "an iteration and wave" if loop.is_launched else "an iteration, as written"
    whole = ", ".join(f"{_number(count)} {group}" for group, count in loop.instructions.items())
    yield f"Instructions of {per}: {whole}."
    matrix = loop.instructions.get("matrix", 0)
    if matrix:
        others = ", ".join(f"{_number(n / matrix)} {group}" for group, n in loop.instructions.items() if group != "matrix")
        yield f"For each matrix instruction: {others}."
    yield f"Vector registers: at most {loop.live} live of {loop.registers}."
    yield from loop.bounds
    yield from loop.notes


def _facts(known: HotLoop) -> Iterator[str]:
    plain = [each for each in known.facts if each.unit != LINE]
    places = {each.name: each.value for each in known.facts if each.unit == LINE}
    spans = {name.removesuffix(" from"): line for name, line in places.items() if name.endswith(" from")}
    ends = {name.removesuffix(" to"): line for name, line in places.items() if name.endswith(" to")}
    if spans:
        at = (
            f"{name.removeprefix('hot loop in ')} lines {first:g} to {ends.get(name, first):g}" for name, first in spans.items()
        )
        yield f"Hot loop: {'; '.join(at)}."
    said = ", ".join(f"{each.name} {each.value:.12g}{_unit(each)}" for each in plain)
    yield f"Profile: {said or 'no figures'}."
    figures = {each.name: each.value for each in plain}
    loads, products = figures.get(LOADS, 0), figures.get(PRODUCTS, 0)
    if loads and products:
        what = "loading" if loads > products else "multiplying" if products > loads else "loading and multiplying alike"
        yield (
            f"Bound by {what}, of what is counted: {loads:g} loads and {products:g} vector multiply-adds an iteration, where a"
            f" core can start as many of one as of the other; so {_allowed(products / loads)}"
        )
    cycles = next((value for name, value in figures.items() if name.startswith("cycles n=")), 0)
    stalled = [
        f"{name} {100 * n / cycles:.0f} %" for name, n in figures.items() if cycles and name.startswith("cycles stalled")
    ]
    if stalled:
        yield f"Of its cycles: {', '.join(stalled)}."


def _allowed(share: float) -> str:
    if share < 1:
        return f"the loads allow at most {100 * share:.0f} % of the multiply-adds that a core can do."
    return "the loads allow all multiply-adds that a core can do: what is lost, latency, caches or work around the loop take."


def _unit(fact: Fact) -> str:
    return f" {fact.unit}" if fact.unit and fact.unit not in ("instructions",) else ""


def _files_of_facts(known: HotLoop) -> tuple[str, ...]:
    words = [word for each in known.facts for word in each.name.split() if "/" in word]
    return tuple(dict.fromkeys(word for word in words if PurePosixPath(word).suffix))


def _main_size(protocol: Protocol, home: str) -> str:
    benchmark = protocol.targets[home].benchmark if home in protocol.targets else None
    return max(benchmark.sizes, key=lambda size: size.weight).name if benchmark else ""


def _bound(protocol: Protocol, home: str, baseline: Baseline | None, by_hand: str, loop: CountedLoop | None) -> Iterator[str]:
    """Yield how far the measured figures of the target `home` are from its bound and its peak."""
    benchmark = protocol.targets[home].benchmark if home in protocol.targets else None
    peak, memory = (benchmark.peak_tflops, benchmark.peak_gb_s) if benchmark else (0.0, 0.0)
    share = loop.attainable if loop else 0.0
    ceiling = peak * share
    if ceiling:
        yield (
            f"So, where caches serve it, matrix instructions take at most {100 * share:.1f} % of the loop's cycles:"
            f" {ceiling:.4g} of the peak {peak:g} TFLOP/s."
        )
    elif peaks := [f"{top:g} {unit}" for top, unit in ((peak, "TFLOP/s"), (memory, "GB/s")) if top]:
        yield f"Peak of {home}: {', '.join(peaks)}."
    main = _main_size(protocol, home)
    figure = next((each for each in baseline.figures if each.size == main), None) if baseline else None
    if figure is None:
        told = f"; {by_hand} has figures given by hand, in the section on baselines" if by_hand else ""
        yield f"How far from it: not known, for expctl has not timed {home} yet{told}."
    else:
        speed = figure.flop / figure.ns / 1e3
        of = [f"{100 * speed / top:.1f} % of the {what}" for top, what in ((ceiling, "bound"), (peak, "peak")) if top and speed]
        unknown = "; no peak to compare with"
        said = f": {', '.join(of)}" if of else "" if peak else unknown
        yield f"Now on {home} at {main}: {speed_text(figure.flop, figure.ns, figure.low_ns, figure.high_ns)}{said}."
        if benchmark and baseline and loop is None and (walls := list(_walls(benchmark, baseline.figures))):
            yield f"Bound of {home}, by these figures alone, for its loop isn't counted: {'; '.join(walls)}."


def _walls(benchmark: Benchmark, figures: Iterable[Figure]) -> Iterator[str]:
    """Yield for each measured size whether arithmetic or memory would take longer at its peak, and how much of the time."""
    moved = {size.name: size.bytes for size in benchmark.sizes}
    for each in figures:
        amounts = {
            "arithmetic": (each.flop, benchmark.peak_tflops * 1e3),
            "memory": (moved.get(each.size, 0), benchmark.peak_gb_s),
        }
        shares = {what: amount / peak / each.ns for what, (amount, peak) in amounts.items() if amount and peak}
        if shares:
            what, share = max(shares.items(), key=lambda found: found[1])
            yield f"at {each.size} {what}, {100 * share:.0f} % of the time at its peak: at most {1 / share:.2f} times as fast"


def _rival(rivals: Rivals | None, main: str) -> str:
    size = next((each for each in rivals.sizes if each.name == main), rivals.sizes[0]) if rivals and rivals.sizes else None
    ours = size.ours if size is not None else None
    if size is None or ours is None:
        return "none was measured here (`expctl rivals`)"
    best = [size.quickest(role) for role in (Role.RIVAL, Role.WALL)]
    said = [f"{speed_ratio(ours, each)[0]:.2f} times as fast as {one_line(each.name, 40)}" for each in best if each]
    return f"at {size.name} the kernel is {'; '.join(said) or 'alone: none could be timed'}"


def _costly(line: LoopLine) -> str:
    groups = ", ".join(f"{_number(count)} {group}" for group, count in line.instructions.items())
    return f"{line.file}:{line.line}: {groups}: {line.text}" if line.text else f"{line.file}:{line.line}: {groups}"


def _number(value: float) -> str:
    return f"{value:.{2 if value < 10 else 1}f}".rstrip("0").rstrip(".")
