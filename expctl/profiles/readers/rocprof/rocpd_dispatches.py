"""Read the dispatches of a rocpd database in one pass over their table, half of it in a second process if a core is free."""

import sqlite3
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from expctl.profiles.raw import refusals
from expctl.profiles.raw.dispatch_stats import Appenders, DispatchTimes, Gaps, Intervals, SerialDispatches, is_recording
from expctl.profiles.raw.extents import AXES
from expctl.profiles.readers.rocprof.rocpd_tables import Tables
from expctl.profiles.readers.split_read import halves, read_in_parallel, usable_cores
from expctl.profiles.readers.sqlite_file import open_database, quoted

ROWS_FOR_TWO = 100_000
"""Least number of rows for which a second process saves time."""
# Columns that distinguish launches, under all their names. One weighted sum of them is the key of a launch: it costs one
# value per dispatch instead of twelve. The weights are primes without a pattern, so that no simple change of a grid or a
# workgroup yields another launch's key, and small enough that a grid of 2^32 work-items stays below 2^63.
_PARTS: tuple[tuple[tuple[str, ...], int], ...] = (
    (("kernel_id",), 604462909811),
    (("agent_id", "track_id"), 338350097063),
    (("private_segment_size", "scratch_size"), 1483921703),
    (("group_segment_size", "lds_block_size", "lds_size"), 1827364979),
    *(
        ((f"workgroup_size_{axis}", f"workgroup_{axis}"), prime)
        for axis, prime in zip(AXES, (51539607599, 37207462397, 22369621867), strict=True)
    ),
    *(
        ((f"grid_size_{axis}", f"grid_{axis}"), prime)
        for axis, prime in zip(AXES, (268435399, 190734863, 107374183), strict=True)
    ),
)
VIEW_NEEDS = ("region_name_id", "tid", "event_id")
REPLAY = "replay_pass"
"""Column with the number of a counting pass: a dispatch that is replayed has a row for each, any other has NULL."""


@dataclass(slots=True, kw_only=True)
class Dispatches:
    """All dispatches of one process in a rocpd database.

    `firsts` maps a launch key (a kernel in one launch configuration) to the id of its first dispatch. `rows` counts dispatches,
    `hidden` those of them that the database's own views leave out, `replays` rows that repeat a dispatch to collect counters.
    """

    timing: DispatchTimes = field(default_factory=DispatchTimes)
    firsts: dict[Any, int] = field(default_factory=dict)
    rows: int = 0
    hidden: int = 0
    replays: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceColumn:
    """The column of the dispatch table that tells the GPU ("" if there is none); `names` are GPU names by its values."""

    column: str
    names: Mapping[Any, str]

    @property
    def single(self) -> str:
        """Return the name of the GPU if the database has just one; else ""."""
        different = set(self.names.values())
        return different.pop() if len(different) == 1 else ""

    def name_of(self, value: object) -> str:
        """Return the name of the GPU for the value that a dispatch's row has in this column."""
        return self.single or self.names.get(value) or (f"agent {value}" if self.column else "the GPU")


def read_dispatches(source: Tables, have: Mapping[str, bool], devices: DeviceColumn) -> Dispatches:
    """Return the dispatches of one process in a rocpd database. `have` are the columns of the dispatch table (name -> may it be
    NULL). Raises Refused for a start or end that is no integer.
    """
    table = source.name("kernel_dispatch")
    ends = f"SELECT (SELECT min(id) FROM {table}), (SELECT max(id) FROM {table})"  # noqa: S608  a quoted name
    first, last = source.database.execute(ends).fetchone()
    if first is None:
        return Dispatches()
    ranges = (
        halves(first, last) if last - first >= ROWS_FOR_TWO and usable_cores() > 1 and not is_recording() else ((first, last),)
    )

    def read(part: int) -> Any:
        with open_database(source.path) as database:
            return _range(Tables(database=database, path=source.path, suffix=source.suffix), have, devices, ranges[part])

    try:
        return _joined(read_in_parallel(read, len(ranges)))
    except TypeError as error:
        raise refusals.damaged(source.path, "a dispatch whose start or end is no integer") from error


def _range(source: Tables, have: Mapping[str, bool], devices: DeviceColumn, ids: tuple[int, int]) -> Any:
    """Return the dispatches with ids from `ids[0]` to `ids[1]`, both included, as a tuple that marshal can write."""
    timing = DispatchTimes()
    firsts: dict[Any, int] = {}
    entries: dict[Any, Appenders] = {}
    raised: list[BaseException] = []
    timeless: list[int] = []

    def take(key: Any, start: int, end: int, dispatch: int) -> None:
        try:
            duration_to, start_to, end_to = entries[key]
        except KeyError:
            firsts[key] = dispatch
            duration_to, start_to, end_to = entries[key] = timing.appenders(_device_of(source, dispatch, devices), key)
        if not start and not end and start == end:
            timeless.append(dispatch)
            return
        try:
            duration_to(end - start)
            start_to(start)
            end_to(end)
        except BaseException as error:
            raised.append(error)  # SQLite replaces the error by one of its own
            raise

    # Having SQLite call a function takes half the time of fetching rows.
    source.database.create_function("take", 4, take)
    seen = " + ".join(quoted(name) for name in VIEW_NEEDS if have.get(name)) or "1"
    table, once = source.name("kernel_dispatch"), ""
    if REPLAY in have:
        once = f" AND ({REPLAY} IS NULL OR {REPLAY} = (SELECT min({REPLAY}) FROM {table}))"  # noqa: S608  quoted names
    query = (
        f'SELECT count(take({_key(have, devices)}, start, "end", id)), count(*) - count({seen}), count(*) '  # noqa: S608
        f"FROM {table} WHERE id BETWEEN ? AND ?{once}"
    )
    try:
        _, hidden, counted = source.database.execute(query, ids).fetchone()
    except sqlite3.OperationalError:
        if raised:
            raise raised[0] from None
        raise
    timing.finish()
    timing.impossible += len(timeless)
    rows = f"SELECT count(*) FROM {table} WHERE id BETWEEN ? AND ?"  # noqa: S608
    replays = source.database.execute(rows, ids).fetchone()[0] - counted if once else 0
    for intervals in timing.intervals.values():
        intervals.find_serial()
    times = {device: _plain(intervals) for device, intervals in timing.intervals.items()}
    return firsts, counted, hidden, replays, timing.durations, timing.impossible, times, list(timing.numbers)


def _joined(parts: list[Any]) -> Dispatches:
    found = Dispatches()
    timing = found.timing
    for firsts, rows, hidden, replays, durations, impossible, times, numbered in parts:
        found.firsts |= {key: first for key, first in firsts.items() if key not in found.firsts}  # in time order
        found.rows += rows
        found.hidden += hidden
        found.replays += replays
        timing.impossible += impossible
        timing.numbers |= {key: number for number, key in enumerate(numbered)}  # of one part: it is recorded in one process
        for key, values in durations.items():
            timing.durations[key] = timing.durations[key] + values if key in timing.durations else values
        for device, plain in times.items():
            intervals = _intervals(*plain)
            timing.intervals[device] = timing.intervals[device].join(intervals) if device in timing.intervals else intervals
    return found


def _plain(intervals: Intervals) -> tuple[bytes, bytes, Any, bytes]:
    serial = intervals.serial and asdict(intervals.serial)
    return intervals.starts.tobytes(), intervals.ends.tobytes(), serial, intervals.keys.tobytes()


def _intervals(starts: bytes, ends: bytes, serial: Any, keys: bytes) -> Intervals:
    known = serial and SerialDispatches(**(serial | {"gaps": Gaps(**serial["gaps"])}))
    return Intervals(array("q", starts), array("q", ends), known, array("q", keys))


def _key(have: Mapping[str, bool], devices: DeviceColumn) -> str:
    """Return an SQL expression that is equal for dispatches with the same launch configuration. `have` are the columns of the
    dispatch table. The GPU is left out if the database has only one.
    """
    found = [(next((name for name in names if name in have), ""), weight) for names, weight in _PARTS]
    terms = [
        f"{_value(name, have[name])} * {weight}"
        for name, weight in found
        if name and not (name == devices.column and devices.single)
    ]
    return " + ".join(terms)


def _value(name: str, nullable: bool) -> str:
    return f"coalesce({quoted(name)}, -1)" if nullable else quoted(name)


def _device_of(source: Tables, dispatch: int, devices: DeviceColumn) -> str:
    if devices.single or not devices.column:
        return devices.name_of(None)
    query = f"SELECT {quoted(devices.column)} FROM {source.name('kernel_dispatch')} WHERE id = ?"  # noqa: S608
    (value,) = source.database.execute(query, (dispatch,)).fetchone()
    return devices.name_of(value)
