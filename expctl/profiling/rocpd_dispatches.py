"""The dispatches of a rocpd database, a million in a second or two.

Most databases have one GPU and dispatches in order: these are read in one quick pass, by two processes where two cores are
free. Anything else (several GPUs or processes, times that run backwards) is read in a pass that keeps every time.
"""

from collections.abc import Mapping
from typing import Any

from expctl.profiling import refusals
from expctl.profiling.rocpd_tables import Tables
from expctl.profiling.rocprof_csv import AXES
from expctl.profiling.sqlite_file import open_database, quoted
from expctl.profiling.tally import Entry, Gaps, Summary, Tally, Track, gaps_of
from expctl.profiling.two_processes import cores, halves, in_two

ROWS_FOR_TWO = 100_000
"""Below, forking costs more than it saves."""
# What distinguishes launches, under all the names it has had. One weighted sum of them is the key of a launch: it costs one
# value per dispatch instead of twelve. The weights are primes large enough that two launches of a run won't share a sum.
_PARTS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("kernel_id",), 268435399),
    (("agent_id",), 134217689),
    (("private_segment_size", "scratch_size"), 50331653),
    (("group_segment_size", "lds_block_size", "lds_size"), 33554393),
    *(
        ((f"workgroup_size_{axis}", f"workgroup_{axis}"), prime)
        for axis, prime in zip(AXES, (16777213, 8388593, 4194301), strict=True)
    ),
    *(((f"grid_size_{axis}", f"grid_{axis}"), prime) for axis, prime in zip(AXES, (2097143, 1048573, 524287), strict=True)),
)
VIEW_NEEDS = ("region_name_id", "tid", "event_id")
_HIDDEN_WEIGHT = 201326611


def read_dispatches(
    source: Tables, have: Mapping[str, bool], agents: Mapping[Any, str], *, thorough: bool
) -> tuple[Tally, dict[Any, int]]:
    """All dispatches, and the id of the first one of each launch. Raises Refused."""
    table = source.name("kernel_dispatch")
    first, last = source.database.execute(f"SELECT min(id), max(id) FROM {table}").fetchone()  # noqa: S608  a quoted name
    if first is None:
        return Tally(), {}
    ranges = halves(first, last) if last - first >= ROWS_FOR_TWO and cores() > 1 else ((first, last),)

    def read(part: int) -> Any:
        with open_database(source.path) as database:
            return _quickly(Tables(database=database, path=source.path, suffix=source.suffix), have, agents, ranges[part])

    try:
        parts = [None] if thorough else in_two(read, len(ranges))
        if all(part is not None for part in parts) and (joined := _joined(parts)) is not None:
            return joined
        return _thoroughly(source, have, agents)
    except TypeError as error:
        raise refusals.damaged(source.path, "a dispatch whose start or end is no integer") from error


def _quickly(source: Tables, have: Mapping[str, bool], agents: Mapping[Any, str], ids: tuple[int, int]) -> Any:
    """What two processes can exchange of a range of ids; None unless one GPU ran one dispatch after the other began."""
    durations: dict[Any, list[int]] = {}
    firsts: dict[Any, int] = {}
    appends: dict[Any, Any] = {}
    gaps: list[int] = []
    gap_to = gaps.append
    device = ""
    first = last = reached = None
    rows = source.database.execute(_query(source, have, "WHERE id BETWEEN ? AND ?"), ids)
    for key, start, end in rows:
        try:
            appends[key](end - start)
        except KeyError:
            firsts[key] = _nth(source, sum(map(len, durations.values())), ids)
            where = _agent_of(source, firsts[key], have, agents)
            if device not in ("", where):
                return None
            device = where
            durations[key] = [end - start]
            appends[key] = durations[key].append
            if first is None:
                first = last = reached = start
        if start >= reached:
            gap_to(start - reached)
            reached = end
        else:
            if start < last:
                return None
            if end > reached:
                reached = end
        last = start
    if first is None or any(min(values) < 0 for values in durations.values()):
        return None
    for values in durations.values():
        values.sort()
    found = gaps_of(gaps)
    times = (first, last, reached, sum(map(len, durations.values())))
    return durations, firsts, device, times, (found.number, found.total_ns, found.short, found.short_ns, found.longest_ns)


def _joined(parts: list[Any]) -> tuple[Tally, dict[Any, int]] | None:
    """The ranges as one; None where the second doesn't follow on the first."""
    tally = Tally()
    firsts: dict[Any, int] = {}
    summary: Summary | None = None
    device = parts[0][2]
    for durations, some, where, (first, last, reached, dispatches), numbers in parts:
        gaps = Gaps(**dict(zip(Gaps.__slots__, numbers, strict=True)))
        mine = Summary(first=first, last_start=last, reached=reached, dispatches=dispatches, gaps=gaps)
        summary = mine if summary is None else summary.then(mine)
        if summary is None or where != device:
            return None
        for key, values in durations.items():
            tally.durations[key] = tally.durations[key] + values if key in tally.durations else values
        firsts = some | firsts
    tally.tracks[device] = Track(summary=summary)
    return tally, firsts


def _thoroughly(source: Tables, have: Mapping[str, bool], agents: Mapping[Any, str]) -> tuple[Tally, dict[Any, int]]:
    """Every start and end, by GPU. Raises TypeError where one is no integer."""
    tally = Tally()
    entries: dict[Any, Entry] = {}
    firsts: dict[Any, int] = {}
    for key, start, end, dispatch in source.database.execute(_query(source, have, "", ", id")):
        if key not in entries:
            firsts[key] = dispatch
            entries[key] = tally.entry(_agent_of(source, dispatch, have, agents), key)
        duration_to, start_to, end_to = entries[key]
        duration_to(end - start)
        start_to(start)
        end_to(end)
    return tally, firsts


def _query(source: Tables, have: Mapping[str, bool], where: str, more: str = "") -> str:
    terms = [f"{_value(name, have[name])} * {weight}" for names, weight in _PARTS if (name := _first(names, have)) is not None]
    if hiding := [quoted(name) for name in VIEW_NEEDS if have.get(name)]:
        terms.append(f"({' + '.join(hiding)} IS NULL) * {_HIDDEN_WEIGHT}")
    return f'SELECT {" + ".join(terms)}, start, "end"{more} FROM {source.name("kernel_dispatch")} {where} ORDER BY id'  # noqa: S608


def _nth(source: Tables, place: int, ids: tuple[int, int]) -> int:
    """The id of a dispatch by its place. Ids have no holes as rocprofv3 writes them, so the guess is nearly always right."""
    table, guess = source.name("kernel_dispatch"), ids[0] + place
    before = f"SELECT count(*) FROM {table} WHERE id BETWEEN ? AND ?"  # noqa: S608
    if source.database.execute(before, (ids[0], guess)).fetchone()[0] == place + 1:
        return guess
    query = f"SELECT id FROM {table} WHERE id BETWEEN ? AND ? ORDER BY id LIMIT 1 OFFSET ?"  # noqa: S608
    return int(source.database.execute(query, (*ids, place)).fetchone()[0])


def _value(name: str, nullable: bool) -> str:
    return f"coalesce({quoted(name)}, -1)" if nullable else quoted(name)


def _first(names: tuple[str, ...], have: Mapping[str, bool]) -> str | None:
    return next((name for name in names if name in have), None)


def _agent_of(source: Tables, dispatch: int, have: Mapping[str, bool], agents: Mapping[Any, str]) -> str:
    if "agent_id" not in have:
        return "the GPU"
    query = f"SELECT agent_id FROM {source.name('kernel_dispatch')} WHERE id = ?"  # noqa: S608
    row = source.database.execute(query, (dispatch,)).fetchone()
    return agents.get(row[0], f"agent {row[0]}")
