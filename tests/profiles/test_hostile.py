"""Damaged, foreign and hostile files: a clear refusal or a right result, and never a traceback."""

import csv
import gzip
import io
import json
import random
import sqlite3
import tracemalloc
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from expctl.profiles import read_profile
from tests.refusals import printed_code

GOLDEN = Path(__file__).parent / "golden"
GUID = "00000096_88a3_78a3_98ca_18ea8b796f0d"
TRACE, STATS, COUNTERS = (
    "rocprofv3_7_gfx950_kernel_trace.csv.gz",
    "rocprofv3_7_gfx950_kernel_stats.csv.gz",
    "rocprofv3_7_gfx1151_stall_counters.csv.gz",
)
DATABASE, JSON, TORCH = "rocpd_schema3_gfx1250.db.gz", "rocprofv3_7_mi350x_first3000.json.gz", "torch_rocm6.2_mi250.json.gz"
RAW, DETAILS = "ncu_2025.3_h200_pipeline_raw.csv.gz", "ncu_2025.3_h200_pipeline_details.csv.gz"
HEAD = (
    "Kind,Agent_Id,Queue_Id,Kernel_Name,Start_Timestamp,End_Timestamp,Workgroup_Size_X,Workgroup_Size_Y,Workgroup_Size_Z,"
    "Grid_Size_X,Grid_Size_Y,Grid_Size_Z\n"
)
COUNTED = "Dispatch_Id,Agent_Id,Kernel_Name,Counter_Name,Counter_Value\n"
DURATION = b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": %s}]}'
Show = Callable[..., Any]


def unpacked(name: str) -> bytes:
    return gzip.decompress((GOLDEN / name).read_bytes())


def row(name: str = "k", start: object = 10, end: object = 20) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(["KERNEL_DISPATCH", "Agent 1", 1, name, start, end, 64, 1, 1, 128, 1, 1])
    return text.getvalue()


def edited(statement: str) -> bytes:
    """The real database after a statement, with T for its table of dispatches."""
    with sqlite3.connect(":memory:") as database:
        database.deserialize(unpacked(DATABASE))
        database.executescript(statement.replace("T_", "rocpd_").replace("_G", f"_{GUID}"))
        return bytes(database.serialize())


def utf16(name: str) -> bytes:
    return unpacked(name).decode().encode("utf-16")


# what the file holds: (contents, what the refusal says)
REFUSED: dict[str, tuple[Callable[[], bytes], str]] = {
    "empty": (lambda: b"", "an empty file"),
    "white space": (lambda: b" \n\n \n", "an empty file"),
    "zeros": (lambda: bytes(4000), "binary data"),
    "noise": (lambda: random.Random(3).randbytes(5000), ""),
    "a picture": (lambda: b"\x89PNG\r\n\x1a\n" + bytes(100), "a picture"),
    "a code object": (lambda: b"\x7fELF" + bytes(100), "a code object"),
    "an ncu report": (lambda: b"NVR\x00" + bytes(100), "a report of Nsight Compute"),
    "a zip": (lambda: b"PK\x03\x04" + bytes(100), "a zip archive"),
    "prose": (lambda: b"Dear reader,\nthis is no profile.\n", "begins with"),
    "html": (lambda: b"<!DOCTYPE html><html><body>404</body></html>", "begins with"),
    "utf-16": (lambda: utf16(TRACE), "UTF-16"),
    "gzip cut off": (lambda: (GOLDEN / TORCH).read_bytes()[:-2000], "cut off"),
    "gzip with a flipped bit": (lambda: flipped((GOLDEN / TORCH).read_bytes(), 3000), ""),
    "gzip of nothing": (lambda: gzip.compress(b""), "an empty file"),
    "trace cut inside a row": (lambda: unpacked(TRACE)[:-30], "cut off"),
    "trace cut inside a name": (lambda: unpacked(TRACE)[:9000], "end of data"),
    "trace cut inside its heads": (lambda: unpacked(TRACE)[:60], "end of data"),
    "trace of heads alone": (lambda: HEAD.encode(), "without a row"),
    "trace with a letter in a time": (lambda: (HEAD + row() + row(start="1O")).encode(), "Start_Timestamp 1O"),
    "trace with an empty time": (lambda: (HEAD + row(end="")).encode(), "End_Timestamp (empty)"),
    "trace with a time of 80 bits": (lambda: (HEAD + row(end=2**80)).encode(), "64 bits"),
    "trace whose only dispatch runs backwards": (lambda: (HEAD + row(start=20, end=10)).encode(), "that begins before it ends"),
    "trace with Python's digits": (lambda: (HEAD + row(end="2_0")).encode(), "End_Timestamp 2_0"),
    "trace with too many fields": (lambda: (HEAD + row().replace("\n", ",1\n")).encode(), "13 fields in a table of 12 columns"),
    "a counter with a decimal comma": (lambda: (COUNTED + '1,1,k,WAVES,"1,5"\n').encode(), "1,5, where a number belongs"),
    "a counter with Python's digits": (lambda: (COUNTED + "1,1,k,WAVES,1_5\n").encode(), "1_5, where a number belongs"),
    "counters without ids": (lambda: COUNTED.replace("Dispatch_Id", "Thread_Id").encode(), "nothing tells one dispatch"),
    "statistics whose least is above the most": (
        lambda: b"Name,Calls,TotalDurationNs,AverageNs,MinNs,MaxNs\nk,2,60,30.0,40,20\n",
        "minimum, mean and maximum",
    ),
    "a column whose name is no text": (
        lambda: edited("ALTER TABLE T_info_agent_G RENAME COLUMN product_name TO qqqqq").replace(b'"qqqqq"', b'"qq\xe6qq"'),
        "SQLite says",
    ),
    "trace with a head twice": (lambda: (HEAD.replace("Queue_Id", "agent_id") + row()).encode(), "appears twice"),
    "trace with zero bytes": (lambda: unpacked(TRACE)[:2000] + bytes(5) + unpacked(TRACE)[2000:], "binary data"),
    "statistics cut off": (lambda: unpacked(STATS)[:-20], ""),
    "statistics with a kernel twice": (lambda: unpacked(STATS) + unpacked(STATS).splitlines(keepends=True)[1], "two rows of"),
    "statistics of no calls": (lambda: unpacked(STATS).replace(b",733,", b",0,"), "0 calls"),
    "statistics of calls": (lambda: (GOLDEN / "rocprofv3_7.0_doc_hip_api_stats.csv").read_bytes(), "statistics of API calls"),
    "statistics of domains": (lambda: (GOLDEN / "rocprofv3_7.0_doc_hip_domain_stats.csv").read_bytes(), "whole domains"),
    "counters with a word": (lambda: unpacked(COUNTERS).replace(b"3564.000000", b"many", 1), "Counter_Value many"),
    "counters with nan": (lambda: unpacked(COUNTERS).replace(b"3564.000000", b"nan", 1), "Counter_Value nan"),
    "an api trace": (lambda: (GOLDEN / "rocprofv3_7.0_doc_rocpd-to-csv.csv").read_bytes(), "an API trace"),
    "pc samples": (lambda: (GOLDEN / "rocprofv3_7.0_doc_pc_sampling_host_trap.csv").read_bytes(), "PC samples"),
    "agents": (lambda: unpacked("rocprofv3_7_gfx950_agent_info.csv.gz"), "agents"),
    "rocprof v1": (lambda: b"Index,KernelName,gpu-id,queue-id,DurationNs\n0,k,0,0,5\n", "rocprof v1"),
    "rocprof v2": (lambda: b"Dispatch_ID,GPU_ID,Kernel_Name,Start_Timestamp,End_Timestamp\n0,0,k,1,2\n", "rocprof v2"),
    "rocprof v1 statistics": (
        lambda: b'"Name","Calls","TotalDurationNs","AverageNs","Percentage"\n"k.kd",5,1000,200,100.0\n', "rocprof v1"
    ),
    "rocprof v1 json": (
        lambda: b'{"traceEvents": [{"ph": "X", "ts": 1, "dur": 2, "name": "k", "args": {"BeginNs": "1", "EndNs": "3"}}]}',
        "rocprof v1",
    ),
    "rocprof v1 json, which begins with an empty event": (
        lambda: b'{"traceEvents": [{},{"ph": "X", "ts": 1, "dur": 2, "name": "k", "args": {"BeginNs": "1", "EndNs": "3"}}]}',
        "rocprof v1",
    ),
    "nsys printed trace": (lambda: b"Start (ns),Duration (ns),CorrId,GrdX,Name\n1,2,1,1,k\n", "printed trace of nsys"),
    "nsys printed with what it does": (
        lambda: b"Processing [r.sqlite] with [/opt/reports/cuda_gpu_kern_sum.py]... \nTime (%),Name\n1,k\n", "what nsys prints"
    ),
    "nsys printed": (lambda: b'"Time (%)","Total Time (ns)","Instances","Name"\n1,2,3,k\n', "summary of nsys"),
    "ncu raw cut off": (lambda: unpacked(RAW)[:-500], "cut off"),
    "ncu raw without units": (lambda: b"".join(unpacked(RAW).splitlines(keepends=True)[::2]), "units"),
    "ncu raw without kernels": (lambda: b"".join(unpacked(RAW).splitlines(keepends=True)[:2]), "without a kernel"),
    "ncu details cut off": (lambda: unpacked(DETAILS)[:-200], ""),
    "ncu error alone": (lambda: b"==ERROR== No kernels were profiled.\n", "No kernels were profiled"),
    "ncu summary": (lambda: b'"Kernel Name","Invocations","Metric Name"\n"k",3,"Duration"\n', "summed over kernels"),
    "ncu source page": (lambda: b'"#","Address","Source"\n"1","7f","MOV"\n', "source page"),
    "parquet": (lambda: b"PAR1" + bytes(40), "Parquet"),
    "a packed database": (lambda: (GOLDEN / DATABASE).read_bytes(), "packed by gzip"),
    "json cut off": (lambda: unpacked(JSON)[:-100], "not valid JSON"),
    "json of something else": (lambda: b'{"a": 1}', "JSON of something else"),
    "json of a number list": (lambda: b"[1, 2, 3]", "JSON of something else"),
    "json nested without end": (lambda: b"[" * 200_000, ""),
    "json without dispatches": (lambda: b'{"rocprofiler-sdk-tool": [{"buffer_records": {}}]}', "without a dispatch"),
    "json with an odd tool entry": (lambda: b'{"rocprofiler-sdk-tool": 7}', "without a dispatch"),
    "json whose dispatch lacks its end": (
        lambda: b'{"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": [{"dispatch_info": {"kernel_id": 1}, '
        b'"start_timestamp": 1}]}}]}',
        "end_timestamp",
    ),
    "json whose times are text": (
        lambda: b'{"rocprofiler-sdk-tool": [{"buffer_records": {"kernel_dispatch": [{"dispatch_info": {"kernel_id": 1}, '
        b'"start_timestamp": "1", "end_timestamp": "2"}]}}]}',
        "a record with a missing",
    ),
    "json with handles that are lists": (
        lambda: b'{"rocprofiler-sdk-tool": [{"agents": [{"id": {"handle": [1]}, "type": 2}]}]}', "a record with a missing"
    ),
    "json with a kernel id that is a list": (
        lambda: b'{"rocprofiler-sdk-tool": [{"kernel_symbols": [{"kernel_id": [1]}]}]}', "a record with a missing"
    ),
    "json with counters that are numbers": (
        lambda: b'{"rocprofiler-sdk-tool": [{"callback_records": {"counter_collection": [{"dispatch_data": {"dispatch_info": '
        b'{"kernel_id": 1}}, "records": [5]}]}}]}',
        "a record with a missing",
    ),
    "json with an integer of 5000 digits": (lambda: b'{"traceEvents": ' + b"9" * 5000 + b"}", "not valid JSON"),
    "trace without events": (lambda: b'{"traceEvents": []}', "without events"),
    "trace of cpu events": (lambda: b'{"traceEvents": [{"ph": "X", "cat": "cpu_op", "ts": 1, "dur": 2}]}', "without a kernel"),
    "trace whose duration is a word": (
        lambda: b'{"traceEvents": [{"ph": "X", "cat": "kernel", "name": "k", "ts": 1, "dur": "long"}]}', "dur is long"
    ),
    **{
        f"trace whose duration is {value}": (partial(DURATION.__mod__, value.encode()), "a kernel or copy whose dur")
        for value in ("1e400", "1e999999999", "NaN", "-Infinity", "9" * 40, '"' + "9" * 30 + '.125"', "[1]")
    },
    "database cut off": (lambda: unpacked(DATABASE)[:300_000], "cut off"),
    "database header alone": (lambda: unpacked(DATABASE)[:100], "cut off"),
    "database magic alone": (lambda: b"SQLite format 3\x00", "less than a database's header"),
    "database with a broken schema": (lambda: flipped(unpacked(DATABASE), 110, 4000), ""),
    "database without tables": (lambda: bytes(empty_database()), "(none)"),
    "database of rocprof v1": (lambda: bytes(empty_database("CREATE TABLE KERN (BeginNs, EndNs)")), "rocprof v1"),
    "database of rpd": (lambda: bytes(empty_database("CREATE TABLE rocpd_op (id); CREATE TABLE rocpd_api (id)")), "RPD"),
    "database of somebody": (lambda: bytes(empty_database("CREATE TABLE people (name)")), "people"),
    "nsys without kernels": (lambda: empty_database("CREATE TABLE CUPTI_ACTIVITY_KIND_SYNC (start)"), "without CUDA kernels"),
    "nsys of other columns": (lambda: bytes(empty_database("CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (a, b)")), "columns a, b"),
    "rocpd without dispatches": (lambda: edited("DELETE FROM T_kernel_dispatch_G"), "without a dispatch"),
    "rocpd of other columns": (lambda: empty_database("CREATE TABLE rocpd_kernel_dispatch_0 (a)"), "kernel_id, start, end, id"),
    "rocpd whose end is a word": (lambda: edited('UPDATE T_kernel_dispatch_G SET "end" = \'late\' WHERE id = 2'), "no integer"),
}  # fmt: skip


def flipped(contents: bytes, *places: int) -> bytes:
    changed = bytearray(contents)
    for place in places:
        changed[place] ^= 0x40
    return bytes(changed)


def empty_database(script: str = "PRAGMA user_version = 1") -> bytes:
    with sqlite3.connect(":memory:") as database:
        database.executescript(script + "; PRAGMA user_version = 2")
        return database.serialize()


def quiet(text: str) -> bool:
    """No control character but the ends of lines: nothing that moves a cursor."""
    return all(letter.isprintable() or letter == "\n" for letter in text)


@pytest.mark.parametrize("case", REFUSED)
def test_refused(tmp_path: Path, show: Show, case: str) -> None:
    make, says = REFUSED[case]
    path = tmp_path / "input"
    path.write_bytes(make())
    shown = show(path)
    assert shown.status == 1, shown
    assert shown.err.startswith("Error [")
    assert says in shown.err
    assert ("BUG" in shown.err, "Traceback" in shown.err, shown.out) == (False, False, "")
    assert quiet(shown.err)


OTHERS = json.loads((GOLDEN / "refused_heads.json").read_text())


@pytest.mark.parametrize("case", OTHERS)
def test_tables_without_kernels_are_known(tmp_path: Path, show: Show, case: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(OTHERS[case]["text"])
    shown = show(path)
    assert (shown.status, printed_code(shown.err)) == (1, "profile-without-kernels")
    assert f"found     {OTHERS[case]['says']}\n" in shown.err


@pytest.mark.parametrize(
    ("name", "kernels"),
    [
        ("ncclDevKernel_Generic_4(ncclDevKernelArgsStorage<4096ul>)", True), ("ncclKernel_AllReduce_RING_LL_Sum_float", True),
        ("hipReduce(float*)", True), ("ncclAllReduce", False), ("hipMemcpyAsync", False), ("__hipPushCallConfiguration", False),
    ],
)  # fmt: skip
def test_kernels_named_like_calls(tmp_path: Path, show: Show, name: str, kernels: bool) -> None:
    path = tmp_path / "stats.csv"
    path.write_text(
        f'Name,Calls,TotalDurationNs,AverageNs,Percentage,MinNs,MaxNs,StdDev\n"{name}",2,60,30.0,100.0,20,40,14.1\n'
    )
    shown = show(path)
    assert (shown.status, "statistics of API calls" in shown.err) == ((0, False) if kernels else (1, True))


NAMES = {
    "quotes and commas": 'say "hi", twice',
    "newlines": "first\nsecond\r\nthird",
    "ansi": "\x1b[2J\x1b]0;owned\x07red \x1b[31mkernel",
    "5160 characters": "void " + "at::native::x<" * 368 + "end",
    "html": "<script>alert(1)</script><img src=x onerror=y>&amp;",
    "bidi": "abc\u202etxt.exe",
    "not utf-8": "caf\udce9",
    "formula": "=cmd|' /C calc'!A0",
    "braces": "{0}{name}%s%n$HOME`id`",
    "empty": "",
    "spaces": "   ",
    "null-like": "NULL",
}


@pytest.mark.parametrize("case", NAMES)
def test_names_are_data(tmp_path: Path, show: Show, case: str) -> None:
    name = NAMES[case]
    path = tmp_path / "trace.csv"
    path.write_bytes((HEAD + row(name, 10, 25) + row("other", 30, 40)).encode(errors="surrogateescape"))
    text, data, table = show(path), show(path, "--json"), show(path, "--csv")
    assert (text.status, data.status, table.status) == (0, 0, 0), text.err
    assert quiet(text.out)
    assert "15.00 ns" in text.out
    expected = name.encode(errors="surrogateescape").decode(errors="replace")
    (kernel,) = [each for each in json.loads(data.out)["kernels"] if each["total_ns"] == 15]
    assert kernel["name"] == expected
    rows = list(csv.DictReader(io.StringIO(table.out)))
    assert {each["name"].replace("\r\n", "\n") for each in rows} == {expected.replace("\r\n", "\n"), "other"}


@pytest.mark.parametrize("case", NAMES)
def test_names_in_a_database(tmp_path: Path, show: Show, case: str) -> None:
    name = NAMES[case].encode(errors="surrogateescape").decode(errors="replace") or "x"
    literal = name.replace("'", "''")
    path = tmp_path / "r.db"
    path.write_bytes(edited(f"UPDATE T_info_kernel_symbol_G SET display_name = '{literal}' WHERE id = 179"))
    text, data = show(path), show(path, "--json")
    assert (text.status, data.status) == (0, 0)
    assert quiet(text.out)
    assert name in {each["name"] for each in json.loads(data.out)["kernels"]}


def test_a_locked_database_is_in_use(tmp_path: Path, show: Show) -> None:
    path = tmp_path / "r.db"
    path.write_bytes(unpacked(DATABASE))
    with sqlite3.connect(path, isolation_level=None) as writer:
        writer.execute("BEGIN EXCLUSIVE")
        shown = show(path)
        writer.execute("ROLLBACK")
    writer.close()
    assert (shown.status, "in use by another program" in shown.err) == (1, True)
    assert show(path).status == 0


def test_reading_leaves_nothing_beside_the_database(tmp_path: Path, show: Show) -> None:
    path = tmp_path / "r.db"
    path.write_bytes(unpacked(DATABASE))
    with sqlite3.connect(path) as writer:
        writer.execute("PRAGMA journal_mode = WAL")
    writer.close()
    tmp_path.chmod(0o555)
    before = sorted(each.name for each in tmp_path.iterdir())
    shown = show(path)
    tmp_path.chmod(0o755)
    assert (shown.status, sorted(each.name for each in tmp_path.iterdir())) == (0, before)


@pytest.mark.parametrize("seed", range(12))
def test_flipped_bits_never_surprise(tmp_path: Path, show: Show, seed: int) -> None:
    draw = random.Random(seed)
    name = (TRACE, DATABASE, JSON, RAW, DETAILS, STATS)[seed % 6]
    contents = bytearray(unpacked(name))
    for _ in range(draw.randrange(1, 40)):
        contents[draw.randrange(len(contents))] ^= 1 << draw.randrange(8)
    path = tmp_path / "flipped"
    path.write_bytes(bytes(contents))
    shown = show(path)
    assert shown.status in (0, 1), shown.err
    assert ("BUG" in shown.err, quiet(shown.out + shown.err)) == (False, True)


@pytest.mark.parametrize("part", range(1, 12))
@pytest.mark.parametrize("name", [TRACE, DATABASE, JSON])
def test_cut_anywhere(tmp_path: Path, show: Show, name: str, part: int) -> None:
    contents = unpacked(name)
    path = tmp_path / "cut"
    path.write_bytes(contents[: len(contents) * part // 12])
    shown = show(path)
    assert shown.status == 1, shown.out
    assert "BUG" not in shown.err


def test_dispatches_that_run_backwards_are_left_out_and_said(tmp_path: Path, show: Show) -> None:
    path = tmp_path / "t.csv"
    path.write_text(HEAD + row("a", 10, 20) + row("a", 90, 30) + row("b", 40, 45))
    shown = show(path, "--json")
    facts = json.loads(shown.out)
    assert {each["name"]: (each["calls"], each["total_ns"]) for each in facts["kernels"]} == {"a": (1, 10), "b": (1, 5)}
    assert any("1 dispatches end before they begin" in note for note in facts["notes"])


def test_a_last_line_without_an_end_is_said(tmp_path: Path, show: Show) -> None:
    """A cut inside the last number leaves a number."""
    whole, cut = tmp_path / "whole.csv", tmp_path / "cut.csv"
    whole.write_text(HEAD + row())
    cut.write_text((HEAD + row())[:-1])
    assert ["may be cut off" in show(path).out for path in (whole, cut)] == [False, True]


def test_a_line_without_end_is_not_held_in_memory(tmp_path: Path, show: Show) -> None:
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        for part in (HEAD.encode(), b'"', *[b"a" * 2**20] * 40):
            file.write(part)
    tracemalloc.start()
    shown = show(path)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert (shown.status, "field limit" in shown.err, most < 20 * 2**20) == (1, True, True), most


def test_more_than_fits_into_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, show: Show) -> None:
    def read(_: Path) -> None:
        raise MemoryError

    monkeypatch.setattr(read_profile, "read_run", read)
    shown = show(tmp_path / "t.json")
    assert (shown.status, "in memory" in shown.err) == (1, True)


def test_a_missing_path_a_folder_of_nothing_and_wrong_words(tmp_path: Path, show: Show) -> None:
    (tmp_path / "notes.txt").write_text("x")
    trace = tmp_path / "sub" / "t.csv"
    trace.parent.mkdir()
    (tmp_path / "empty").mkdir()
    trace.write_text(HEAD + row())
    for words, status, says in (
        ((tmp_path / "no.db",), 1, "there is no"),
        ((tmp_path / "empty",), 1, "a folder with"),
        ((trace, "--kernel", "["), 2, "--kernel is not a regular expression"),
        ((trace, "--kernel", "a{99999999999}"), 2, "--kernel is not a regular expression"),
        ((trace, "--class", "magic"), 2, "GEMM"),
        ((trace, "--arch", "bogus"), 2, "--arch is not a GPU architecture"),
        ((trace, "--arch", "gfx9999"), 2, "--arch is not a GPU architecture"),
        ((trace, "--arch", "sm_93"), 2, "--arch is not a GPU architecture"),
        (("",), 2, "the path of a profile is empty"),
        ((trace, "--clock", "nan"), 2, "no number"),
        ((trace, "--moves", "a=99999999999999999999"), 2, "REGEX=BYTES"),
        ((trace, "--kernel", "absent"), 2, "no kernel of this profile matches"),
        ((trace, "--size", "1,2"), 2, "M,N,K"),
        ((trace, "--size", "8"), 2, "number of passes"),
        ((trace, "--passes", "3"), 2, "no kernel runs in each"),
        ((trace, "--types", "f16,f16"), 2, "number types"),
        ((trace, "--moves", "x"), 2, "REGEX=BYTES"),
        ((trace, "--json", "--csv"), 2, "--json can't be combined with --csv"),
        ((trace, "--plot", "x.pdf"), 2, ".png or .svg"),
    ):
        shown = show(*words)
        assert (shown.status, says in shown.err) == (status, True), (words, shown)


def test_a_damaged_file_in_a_folder_spoils_its_totals(tmp_path: Path, show: Show) -> None:
    (tmp_path / "1_kernel_trace.csv").write_text(HEAD + row())
    (tmp_path / "2_kernel_trace.csv").write_text(HEAD + row()[:-8])
    shown = show(tmp_path)
    assert (shown.status, "2_kernel_trace.csv" in shown.err) == (1, True)
