"""rocpd databases of rocprofv3: tables `rocpd_<what>_<guid>`, read from the base tables and never through the views.

The views join, and drop a dispatch whose region, thread or event is NULL without a word. Columns are found by name, since they
are renamed between versions that all call themselves schema 3.
"""

import json
import sqlite3
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from expctl.domain.profile import Device, Source
from expctl.profiling import refusals
from expctl.profiling.gathered import Counted, Gathered, Moved, RawLaunch
from expctl.profiling.rocprof_csv import AXES, extent
from expctl.profiling.sqlite_file import columns, open_database, quoted, tables
from expctl.profiling.tally import Entry, Tally
from expctl.profiling.two_processes import cores, halves, in_two

DISPATCH = "rocpd_kernel_dispatch"
ROWS_FOR_TWO = 200_000
"""Below, forking costs more than it saves."""
# What distinguishes launches, under all the names it has had. One weighted sum of them is the key of a launch: it costs one
# value per dispatch instead of twelve. The weights are primes large enough that two launches of a run won't share a sum.
_PARTS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("kernel_id",), 268435399),
    (("agent_id",), 134217689),
    (("private_segment_size", "scratch_size"), 50331653),
    (("group_segment_size", "lds_block_size", "lds_size"), 33554393),
    *(((f"workgroup_size_{axis}", f"workgroup_{axis}"), prime) for axis, prime in zip(AXES, (16777213, 8388593, 4194301), strict=True)),
    *(((f"grid_size_{axis}", f"grid_{axis}"), prime) for axis, prime in zip(AXES, (2097143, 1048573, 524287), strict=True)),
)
_VIEW_NEEDS = ("region_name_id", "tid", "event_id")
_HIDDEN_WEIGHT = 201326611


@dataclass(frozen=True, slots=True, kw_only=True)
class Tables:
    """The tables of one process. `suffix` is its guid with underscores, and empty in a database that has no guids."""

    database: sqlite3.Connection
    path: Path
    suffix: str

    def name(self, what: str) -> str:
        """The quoted name of a table."""
        return quoted(f"rocpd_{what}{self.suffix}")

    def columns(self, what: str) -> dict[str, bool]:
        """Its columns, and whether each may be NULL; empty where there is no such table."""
        return columns(self.database, f"rocpd_{what}{self.suffix}")

    def rows(self, what: str) -> Iterator[Mapping[str, Any]]:
        """All rows by column, in lower case."""
        names = list(self.columns(what))
        if names:
            for row in self.database.execute(f"SELECT * FROM {self.name(what)}"):  # noqa: S608  a quoted name of sqlite_master
                yield dict(zip(names, row, strict=True))


def gather_rocpd(path: Path) -> list[Gathered]:
    """One for each process in the database. Raises Refused."""
    with open_database(path) as database:
        names = tables(database)
        suffixes = [name.removeprefix(DISPATCH) for name in names if name.startswith(DISPATCH)]
        if not suffixes:
            raise _other_schema(path, names)
        found = [_process(Tables(database=database, path=path, suffix=suffix)) for suffix in suffixes]
    if not any(each.has_kernels or each.copies for each in found):
        raise refusals.no_kernels(path, "a rocpd database without a dispatch", "record with rocprofv3 --kernel-trace")
    return found


def _process(source: Tables) -> Gathered:
    found = Gathered(source=Source.ROCPD, file=str(source.path), identity=source.suffix.strip("_").replace("_", "-"))
    found.host = next((str(row.get("hostname") or "") for row in source.rows("info_node")), "")
    agents = {row.get("id"): _device(row) for row in source.rows("info_agent") if row.get("type") == "GPU"}
    found.devices = {device.name: device for device in agents.values()}
    have = source.columns("kernel_dispatch")
    if missing := [name for name in ("kernel_id", "start", "end", "id") if name not in have]:
        raise refusals.unknown(source.path, f"a rocpd database whose dispatches have no {', '.join(missing)}")
    firsts = _dispatches(source, found, have, {agent: device.name for agent, device in agents.items()})
    hidden = _describe(source, found, have, firsts, agents)
    _copies(source, found)
    _counters(source, found, have)
    found.notes.append("times: taken under the profiler, which adds 2 to 3 %")
    if hidden:
        found.notes.append(
            f"dispatches: the database's own `kernels` view hides {hidden} of {sum(map(len, found.tally.durations.values()))} "
            "(no region, thread or event); they are counted here"
        )
    return found


def _dispatches(source: Tables, found: Gathered, have: Mapping[str, bool], agents: Mapping[Any, str]) -> dict[Any, int]:
    """Fill the tally. Returns the id of the first dispatch of each launch."""
    table = source.name("kernel_dispatch")
    first, last = source.database.execute(f"SELECT min(id), max(id) FROM {table}").fetchone()  # noqa: S608  a quoted name
    if first is None:
        return {}
    ranges = halves(first, last)
    if last - first < ROWS_FOR_TWO or cores() < 2:
        ranges = ((first, last),)

    def read(part: int) -> tuple[dict[Any, int], tuple[Any, ...]]:
        with open_database(source.path) as database:
            mine = Tables(database=database, path=source.path, suffix=source.suffix)
            firsts, tally = _range(mine, have, agents, ranges[part])
            if part:
                return firsts, tally.packed()
            found.tally = tally
            return firsts, ()

    parts = in_two(read, len(ranges))
    if len(parts) == 2:
        found.tally.follow(parts[1][1])
        return {**parts[1][0], **parts[0][0]}
    return dict(parts[0][0])


def _range(source: Tables, have: Mapping[str, bool], agents: Mapping[Any, str], ids: tuple[int, int]) -> tuple[dict[Any, int], Tally]:
    """Dispatches with ids from the first to the last of `ids`, and the first id of each launch."""
    terms = [f"{_value(name, have[name])} * {weight}" for names, weight in _PARTS if (name := _first(names, have))]
    hiding = [f"{quoted(name)} IS NULL" for name in _VIEW_NEEDS if name in have and have[name]]
    if hiding:
        terms.append(f"({' OR '.join(hiding)}) * {_HIDDEN_WEIGHT}")
    table = source.name("kernel_dispatch")
    query = f'SELECT {" + ".join(terms)}, start, "end" FROM {table} WHERE id BETWEEN ? AND ? ORDER BY id'  # noqa: S608  quoted
    tally = Tally()
    entries: dict[Any, Entry] = {}
    firsts: dict[Any, int] = {}
    try:
        for key, start, end in source.database.execute(query, ids):
            try:
                duration_to, start_to, end_to = entries[key]
            except KeyError:
                firsts[key] = _nth(source, sum(len(track.starts) for track in tally.tracks.values()), ids)
                entries[key] = tally.entry(_agent_of(source, firsts[key], have, agents), key)
                duration_to, start_to, end_to = entries[key]
            duration_to(end - start)
            start_to(start)
            end_to(end)
    except TypeError as error:
        raise refusals.damaged(source.path, "a dispatch whose start or end is no integer") from error
    return firsts, tally


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


def _describe(
    source: Tables, found: Gathered, have: Mapping[str, bool], firsts: Mapping[Any, int], agents: Mapping[Any, Device]
) -> int:
    """Name the launches. Returns how many dispatches the views hide."""
    symbols = {row.get("id"): row for row in source.rows("info_kernel_symbol")}
    hidden = nameless = 0
    names = list(have)
    query = f"SELECT * FROM {source.name('kernel_dispatch')} WHERE id = ?"  # noqa: S608
    for key, dispatch in firsts.items():
        row = dict(zip(names, source.database.execute(query, (dispatch,)).fetchone(), strict=True))
        symbol = symbols.get(row.get("kernel_id"), {})
        calls = len(found.tally.durations.get(key, ()))
        if any(name in row and row[name] is None for name in _VIEW_NEEDS):
            hidden += calls
        nameless += 0 if symbol else calls
        found.launches[key] = _launch(row, symbol, agents)
    if nameless:
        found.notes.append(f"names: {nameless} dispatches name a kernel that the database doesn't list")
    return hidden


def _launch(row: Mapping[str, Any], symbol: Mapping[str, Any], agents: Mapping[Any, Device]) -> RawLaunch:
    def of(values: Mapping[str, Any], *names: str) -> int | None:
        return next((values[name] for name in names if isinstance(values.get(name), int)), None)

    name = symbol.get("display_name") or symbol.get("kernel_name") or f"kernel {row.get('kernel_id')}"
    agent = agents.get(row.get("agent_id"))
    return RawLaunch(
        kernel=str(name),
        device=agent.name if agent else "",
        vgpr=of(symbol, "arch_vgpr_count", "vgpr_count"),
        accum=of(symbol, "accum_vgpr_count"),
        sgpr=of(symbol, "sgpr_count"),
        lds_bytes=of(row, "group_segment_size", "lds_block_size", "lds_size"),
        scratch_bytes=of(row, "private_segment_size", "scratch_size"),
        workgroup=extent([of(row, f"workgroup_size_{axis}", f"workgroup_{axis}") for axis in AXES]),
        grid=extent([of(row, f"grid_size_{axis}", f"grid_{axis}") for axis in AXES]),
    )


def _device(row: Mapping[str, Any]) -> Device:
    """An agent; most of what is known of it is JSON in `extdata`."""
    try:
        facts = json.loads(row.get("extdata") or "{}")
    except (ValueError, TypeError):
        facts = {}

    def fact(name: str) -> int | None:
        value = facts.get(name) if isinstance(facts, dict) else None
        return value if isinstance(value, int) and value > 0 else None

    return Device(
        name=f"agent {row.get('absolute_index', row.get('id'))}",
        arch=str(row.get("name") or ""),
        product=str(row.get("product_name") or ""),
        units=fact("cu_count"),
        partitions=fact("num_xcc"),
        clock_mhz=fact("max_engine_clk_fcompute"),
    )


def _copies(source: Tables, found: Gathered) -> None:
    if not source.columns("memory_copy"):
        return
    query = (
        f'SELECT S.string, count(*), total(M."end" - M.start), total(M.size) FROM {source.name("memory_copy")} M '  # noqa: S608
        f"LEFT JOIN {source.name('string')} S ON S.id = M.name_id GROUP BY M.name_id"
    )
    for name, calls, time, size in source.database.execute(query):
        moved = found.copies.setdefault(str(name or "memory copy"), Moved())
        moved.calls += calls
        moved.total_ns += int(time)
        moved.total_bytes = (moved.total_bytes or 0) + int(size)


def _counters(source: Tables, found: Gathered, have: Mapping[str, bool]) -> None:
    """Means per call; a counter's instances of one dispatch are added up."""
    if "event_id" not in have or not source.columns("pmc_event") or not source.columns("info_pmc"):
        return
    query = (
        f"SELECT K.kernel_id, I.name, count(DISTINCT K.id), total(E.value) FROM {source.name('pmc_event')} E "  # noqa: S608
        f"JOIN {source.name('info_pmc')} I ON I.id = E.pmc_id "
        f"JOIN {source.name('kernel_dispatch')} K ON K.event_id = E.event_id GROUP BY K.kernel_id, I.name"
    )
    names = {row.get("id"): str(row.get("display_name") or row.get("kernel_name")) for row in source.rows("info_kernel_symbol")}
    for kernel, counter, calls, total in source.database.execute(query):
        counted = found.counters.setdefault(names.get(kernel, f"kernel {kernel}"), {}).setdefault(str(counter), Counted())
        counted.total += total
        counted.calls += calls


def _other_schema(path: Path, names: tuple[str, ...]) -> Exception:
    if "rocpd_op" in names or "rocpd_api" in names:
        return refusals.unknown(path, "a database of rocmProfileData (RPD), which is not read", "profile with rocprofv3 --kernel-trace")
    if {"rocprof_data", "A"} & set(names) or any(name.lower() in ("kern", "ops", "hip", "hsa") for name in names):
        return refusals.unknown(path, "a results.db of rocprof v1, which is not read", "profile with rocprofv3 --kernel-trace")
    if any(name.startswith("rocpd_") for name in names):
        return refusals.no_kernels(path, "a rocpd database without a table of dispatches", "record with rocprofv3 --kernel-trace")
    return refusals.unknown(path, f"a database with the tables {', '.join(names[:6]) or '(none)'}")
