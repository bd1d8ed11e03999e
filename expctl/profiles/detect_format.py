"""Read one profiler file of any known format, which is recognised by the contents; the file's name plays no part."""

from dataclasses import dataclass
from pathlib import Path

from expctl.domain.text import one_line
from expctl.profiles.model.kernel_profile import Device
from expctl.profiles.raw import refusals
from expctl.profiles.raw.profile import RawProfile
from expctl.profiles.readers.csv_kinds import CsvKind, csv_kind, why_not
from expctl.profiles.readers.csv_table import Table, open_table
from expctl.profiles.readers.json_file import read_json
from expctl.profiles.readers.nvidia.ncu_csv import gather_details, gather_raw
from expctl.profiles.readers.nvidia.nsys import gather_nsys, is_nsys
from expctl.profiles.readers.rocprof.csv_files import gather_agents, gather_copies, gather_trace
from expctl.profiles.readers.rocprof.json_files import ROOT, gather_rocprof_json
from expctl.profiles.readers.rocprof.rocpd import gather_rocpd
from expctl.profiles.readers.rocprof.statistics_files import gather_counters, gather_statistics
from expctl.profiles.readers.sqlite_file import MAGIC, open_database, tables
from expctl.profiles.readers.text_file import first_bytes, is_packed
from expctl.profiles.readers.torch_trace import gather_torch, is_trace

# Formats that are recognised only to say what to do: (first bytes, what the file is, advice).
_KNOWN_BINARIES: tuple[tuple[bytes, str, str], ...] = (
    (b"\x7fELF", "a code object or a program", "expctl inspect FILE reads code objects"),
    (b"PK\x03\x04", "a zip archive", "unpack it, then name the folder"),
    (b"\x28\xb5\x2f\xfd", "data packed by zstd", "unpack it first"),
    (b"\xfd7zXZ", "data packed by xz", "unpack it first"),
    (b"BZh", "data packed by bzip2", "unpack it first"),
    (b"\xff\xfe", "UTF-16 text", "write it as UTF-8 (a shell's > did this)"),
    (b"\xfe\xff", "UTF-16 text", "write it as UTF-8 (a shell's > did this)"),
    (b"PAR1", "a Parquet table", "rocprofv3 -f csv, or rocpd convert, writes what is read"),
    (b"ARROW1", "an Arrow table", "rocprofv3 -f csv, or rocpd convert, writes what is read"),
    (b"\x89HDF", "an HDF5 file", "nsys export --type sqlite REPORT, and give that"),
    (b"\x89PNG", "a picture", "give the data that it was drawn from"),
)
_NCU_REPORT = "ncu --import {} --csv --page raw > raw.csv, then name raw.csv"
_NSYS_REPORT = "nsys export --type sqlite -o profile.sqlite {}, then name profile.sqlite"
# Reports are in formats of NVIDIA's own, so their endings help to say what they are: (ending, what it is, advice).
_REPORTS = (
    (".ncu-rep", "a report of Nsight Compute", _NCU_REPORT),
    (".nsys-rep", "a report of Nsight Systems", _NSYS_REPORT),
    (".qdrep", "a report of Nsight Systems", _NSYS_REPORT),
)
_GATHER = {
    CsvKind.TRACE: gather_trace,
    CsvKind.COUNTERS: gather_counters,
    CsvKind.STATISTICS: gather_statistics,
    CsvKind.COPIES: gather_copies,
    CsvKind.NCU_RAW: gather_raw,
    CsvKind.NCU_DETAILS: gather_details,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Contents:
    """Data of one profiler file: the profiles of its processes (`gathered`), or else a list of GPUs (`agents`, by name)."""

    gathered: tuple[RawProfile, ...] = ()
    agents: dict[str, Device] | None = None


def read_file(path: Path) -> Contents:
    """Return the data of the profiler file at `path`, whose format is recognised by its contents. Raises Refused when it is
    damaged, of an unknown format, or contains no kernels.
    """
    start = first_bytes(path)
    if not start:
        raise refusals.unknown(path, "an empty file", "profile again: nothing was written")
    if start.startswith(MAGIC[:15]):
        if is_packed(path):
            raise refusals.unknown(path, "a database packed by gzip", f"unpack it: gunzip {path.name}")
        return Contents(gathered=tuple(_database(path)))
    if start.startswith(b"NVR\x00"):
        raise refusals.unknown(path, "a report of Nsight Compute", _NCU_REPORT.format(path.name))
    for ending, what, hint in _REPORTS:
        if path.name.endswith(ending):
            raise refusals.unknown(path, what, hint.format(path.name))
    for magic, what, hint in _KNOWN_BINARIES:
        if start.startswith(magic):
            raise refusals.unknown(path, what, hint)
    if b"\0" in start[:4096]:
        raise refusals.unknown(path, "binary data")
    text = start.decode("utf-8-sig", errors="replace").lstrip()
    if text.startswith(("{", "[")):
        return Contents(gathered=tuple(_json(path)))
    with open_table(path) as table:
        contents = _table(table)
        if not table.lines.ended:
            for each in contents.gathered:
                each.notes.append(f"{path.name}: its last line has no end, so it may be cut off, and its last number too")
        return contents


def _database(path: Path) -> list[RawProfile]:
    with open_database(path) as database:
        names = tables(database)
    return [gather_nsys(path)] if is_nsys(names) else gather_rocpd(path)


def _json(path: Path) -> list[RawProfile]:
    document = read_json(path)
    if isinstance(document, dict) and ROOT in document:
        return gather_rocprof_json(path, document)
    if is_trace(document):
        return [gather_torch(path, document)]
    heads = ", ".join(list(document)[:6]) if isinstance(document, dict) else type(document).__name__
    raise refusals.unknown(path, f"JSON of something else: {one_line(heads, 120) or '(empty)'}")


def _table(table: Table) -> Contents:
    heads = list(table.names)
    kind = csv_kind(heads)
    if kind is CsvKind.AGENTS:
        return Contents(agents=gather_agents(table))
    if kind is not None:
        return Contents(gathered=(_GATHER[kind](table),))
    if known := why_not(heads):
        raise refusals.no_kernels(table.path, known[0], known[1])
    raise refusals.unknown(table.path, f"a table or text that begins with {one_line(', '.join(heads), 160)}")
