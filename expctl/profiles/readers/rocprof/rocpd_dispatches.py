"""The dispatches of a rocpd database, a million in a second or two: one pass over the table, by two processes where two
cores are free.
"""

import sqlite3
from array import array
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from expctl.profiles.raw import refusals
from expctl.profiles.raw.dispatch_stats import Entry, Gaps, Stretch, Tally, Track
from expctl.profiles.raw.extents import AXES
from expctl.profiles.readers.rocprof.rocpd_tables import Tables
from expctl.profiles.readers.split_read import cores, halves, in_two
from expctl.profiles.readers.sqlite_file import open_database, quoted

ROWS_FOR_TWO = 100_000
"""Below, forking costs more than it saves."""
# What distinguishes launches, under all the names it has had. One weighted sum of them is the key of a launch: it costs one
# value per dispatch instead of twelve. The weights are primes without a pattern, so that no plain change of a grid or a
# workgroup makes up for another, and small enough that a grid of 2^32 work-items stays below 2^63.
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
"""A dispatch that is run again and again to be counted has a row for each pass; others have none, or NULL."""


@dataclass(slots=True, kw_only=True)
class Dispatches:
    """All dispatches of one process. `firsts` has the id of the first one of each launch, `hidden` counts those of all `rows`
    that the database's own views leave out, `replays` those that are a dispatch run again and are none of the rows."""

    tally: Tally = field(default_factory=Tally)
    firsts: dict[Any, int] = field(default_factory=dict)
    rows: int = 0
    hidden: int = 0
    replays: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Places:
    """Where dispatches ran: the column that says so ("" without one), and the names of GPUs by its values."""

    column: str
    names: Mapping[Any, str]

    @property
    def only(self) -> str:
        """The one GPU there is; "" where there are several or none."""
        different = set(self.names.values())
        return different.pop() if len(different) == 1 else ""

    def of(self, value: object) -> str:
        """The GPU that a value of the column stands for."""
        return self.only or self.names.get(value) or (f"agent {value}" if self.column else "the GPU")


def read_dispatches(source: Tables, have: Mapping[str, bool], places: Places) -> Dispatches:
    """The dispatches of `source`. Raises Refused."""
    table = source.name("kernel_dispatch")
    ends = f"SELECT (SELECT min(id) FROM {table}), (SELECT max(id) FROM {table})"  # noqa: S608  a quoted name
    first, last = source.database.execute(ends).fetchone()
    if first is None:
        return Dispatches()
    ranges = halves(first, last) if last - first >= ROWS_FOR_TWO and cores() > 1 else ((first, last),)

    def read(part: int) -> Any:
        with open_database(source.path) as database:
            return _range(Tables(database=database, path=source.path, suffix=source.suffix), have, places, ranges[part])

    try:
        return _joined(in_two(read, len(ranges)))
    except TypeError as error:
        raise refusals.damaged(source.path, "a dispatch whose start or end is no integer") from error


def _range(source: Tables, have: Mapping[str, bool], places: Places, ids: tuple[int, int]) -> Any:
    """The dispatches of a range of ids, as data that two processes can exchange. Raises TypeError for odd times."""
    tally = Tally()
    firsts: dict[Any, int] = {}
    entries: dict[Any, Entry] = {}
    raised: list[BaseException] = []
    timeless: list[int] = []

    def take(key: Any, start: int, end: int, dispatch: int) -> None:
        try:
            duration_to, start_to, end_to = entries[key]
        except KeyError:
            firsts[key] = dispatch
            duration_to, start_to, end_to = entries[key] = tally.entry(_place_of(source, dispatch, places), key)
        if not start and not end and start == end:
            timeless.append(dispatch)
            return
        try:
            duration_to(end - start)
            start_to(start)
            end_to(end)
        except BaseException as error:
            raised.append(error)  # SQLite would tell of it in its own words
            raise

    # A function that SQLite calls costs half of what a row costs that it hands out.
    source.database.create_function("take", 4, take)
    seen = " + ".join(quoted(name) for name in VIEW_NEEDS if have.get(name)) or "1"
    table, once = source.name("kernel_dispatch"), ""
    if REPLAY in have:
        once = f" AND ({REPLAY} IS NULL OR {REPLAY} = (SELECT min({REPLAY}) FROM {table}))"  # noqa: S608  quoted names
    query = (
        f'SELECT count(take({_key(have, places)}, start, "end", id)), count(*) - count({seen}), count(*) '  # noqa: S608
        f"FROM {table} WHERE id BETWEEN ? AND ?{once}"
    )
    try:
        _, hidden, counted = source.database.execute(query, ids).fetchone()
    except sqlite3.OperationalError:
        if raised:
            raise raised[0] from None
        raise
    tally.settle()
    tally.impossible += len(timeless)
    rows = f"SELECT count(*) FROM {table} WHERE id BETWEEN ? AND ?"  # noqa: S608
    replays = source.database.execute(rows, ids).fetchone()[0] - counted if once else 0
    for track in tally.tracks.values():
        track.look()
    times = {device: _plain(track) for device, track in tally.tracks.items()}
    return firsts, counted, hidden, replays, tally.durations, tally.impossible, times


def _joined(parts: list[Any]) -> Dispatches:
    """The ranges as one."""
    found = Dispatches()
    tally = found.tally
    for firsts, rows, hidden, replays, durations, impossible, times in parts:
        found.firsts = firsts | found.firsts
        found.rows += rows
        found.hidden += hidden
        found.replays += replays
        tally.impossible += impossible
        for key, values in durations.items():
            tally.durations[key] = tally.durations[key] + values if key in tally.durations else values
        for device, plain in times.items():
            track = _track(*plain)
            tally.tracks[device] = tally.tracks[device].join(track) if device in tally.tracks else track
    return found


def _plain(track: Track) -> tuple[bytes, bytes, Any]:
    return track.starts.tobytes(), track.ends.tobytes(), track.stretch and asdict(track.stretch)


def _track(starts: bytes, ends: bytes, stretch: Any) -> Track:
    known = stretch and Stretch(**(stretch | {"gaps": Gaps(**stretch["gaps"])}))
    return Track(array("q", starts), array("q", ends), known)


def _key(have: Mapping[str, bool], places: Places) -> str:
    """The key of a launch, as SQL. Where one GPU is listed, all ran on it."""
    found = [(next((name for name in names if name in have), ""), weight) for names, weight in _PARTS]
    terms = [
        f"{_value(name, have[name])} * {weight}"
        for name, weight in found
        if name and not (name == places.column and places.only)
    ]
    return " + ".join(terms)


def _value(name: str, nullable: bool) -> str:
    return f"coalesce({quoted(name)}, -1)" if nullable else quoted(name)


def _place_of(source: Tables, dispatch: int, places: Places) -> str:
    if places.only or not places.column:
        return places.of(None)
    query = f"SELECT {quoted(places.column)} FROM {source.name('kernel_dispatch')} WHERE id = ?"  # noqa: S608
    (value,) = source.database.execute(query, (dispatch,)).fetchone()
    return places.of(value)
