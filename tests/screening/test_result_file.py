"""Result files as tools and spreadsheets write them, and files that are none: what is read, and the one clear error."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.errors import Refused
from expctl.screening.result_file import times_of
from expctl.screening.screen import Case

HEADER = "kernel,shape,time_us\n"
TWO = {Case("mm", "M=1"): [10.0], Case("mm", "M=2"): [12.5]}

SAME: dict[str, str | bytes] = {
    "plain": HEADER + "mm,M=1,10\nmm,M=2,12.5\n",
    "no newline at the end": HEADER + "mm,M=1,10\nmm,M=2,12.5",
    "a byte order mark": b"\xef\xbb\xbf" + HEADER.encode() + b"mm,M=1,10\nmm,M=2,12.5\n",
    "line ends of Windows": HEADER.replace("\n", "\r\n") + "mm,M=1,10\r\nmm,M=2,12.5\r\n",
    "line ends of old": HEADER.replace("\n", "\r") + "mm,M=1,10\rmm,M=2,12.5\r",
    "semicolons": "kernel;shape;time_us\nmm;M=1;10\nmm;M=2;12.5\n",
    "tabs": "kernel\tshape\ttime_us\nmm\tM=1\t10\nmm\tM=2\t12.5\n",
    "quoted semicolons": '"kernel";"shape";"time_us"\n"mm";"M=1";"10"\n"mm";"M=2";"12.5"\n',
    "a title with a comma under semicolons": "kernel;shape;time_us;a,b,c,d,e\nmm;M=1;10;\nmm;M=2;12.5;\n",
    "other columns": "n,time_us,shape,gpu,kernel\n1,10,M=1,x,mm\n2,12.5,M=2,x,mm\n",
    "other columns twice": "kernel,shape,time_us,x,x,\nmm,M=1,10,,,\nmm,M=2,12.5,,,\n",
    "another unit beside it": "kernel,shape,time_ms,time_us\nmm,M=1,7,10\nmm,M=2,7,12.5\n",
    "a number as another title": "kernel,shape,time_us,7\nmm,M=1,10,\nmm,M=2,12.5,\n",
    "capitals and spaces": " Kernel ,SHAPE,Time US\nmm,M=1,10\nmm,M=2,12.5\n",
    "spaces around cells": HEADER + " mm , M=1, 10 \nmm,M=2,\t12.5\n",
    "blank rows": "\n ,,\n" + HEADER + "\nmm,M=1,10\n,,\n   \nmm,M=2,12.5\n\n",
    "exponents and signs": HEADER + "mm,M=1,1E1\nmm,M=2,+.125e+2\n",
}


def read(folder: Path, text: str | bytes) -> dict[Case, list[float]]:
    file = folder / "results.csv"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return times_of(file)


@pytest.mark.parametrize("name", SAME)
def test_the_same_two_rows_with(name: str, tmp_path: Path) -> None:
    assert read(tmp_path, SAME[name]) == TWO


def test_quoted_fields_hold_delimiters_quotes_and_lines(tmp_path: Path) -> None:
    text = HEADER + '"mm, fp8","M=1\r\nN=""2""",10\nmm,M=1,3\n'
    assert read(tmp_path, text) == {Case("mm, fp8", 'M=1\r\nN="2"'): [10.0], Case("mm", "M=1"): [3.0]}


def test_repetitions_keep_their_order_wherever_they_stand(tmp_path: Path) -> None:
    text = HEADER + "a,s,3\nb,s,9\na,s,1\nA,s,7\na,s,2\n"
    assert read(tmp_path, text) == {Case("a", "s"): [3.0, 1.0, 2.0], Case("b", "s"): [9.0], Case("A", "s"): [7.0]}


NAMES = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1).map(str.strip).filter(bool)


@given(st.lists(st.tuples(NAMES, NAMES, st.floats(1e-6, 1e12)), min_size=1, max_size=5), st.sampled_from(",;\t"))
def test_what_a_csv_writer_writes_is_read(rows: list[tuple[str, str, float]], delimiter: str) -> None:
    import csv
    import io
    import tempfile

    stream = io.StringIO(newline="")
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(("kernel", "shape", "time_us"))
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        found = read(Path(folder), stream.getvalue())
    expected: dict[Case, list[float]] = {}
    for kernel, shape, time_us in rows:
        expected.setdefault(Case(kernel, shape), []).append(time_us)
    assert found == expected


BAD_FILES: dict[str, tuple[str | bytes, str]] = {
    "nothing": ("", "no text"),
    "blank lines": ("\n \n", "no text"),
    "a mark only": (b"\xef\xbb\xbf", "no text"),
    "a header only": (HEADER, "the header alone"),
    "a program": (b"\x7fELF\x02\0\0", "a NUL at byte 5: it is no text"),
    "UTF-16": (HEADER.encode("utf-16"), "a byte order mark of UTF-16"),
    "Latin-1": (b"kernel,shape,time_us\nmm,\xb5,1\n", "byte 0xb5 at 24, line 2"),
    "an open quote": (HEADER + 'mm,a,1\nmm,"b,1\nmm,c,1\n', "unexpected end of data, in the row that starts in line 3"),
    "a long open quote": (
        HEADER + 'mm,"b,1\n' + "mm,c,1\n" * 50_000,
        "field larger than field limit (131072), in the row that",
    ),
    "an open quote in the header": ('kernel,shape,"time_us\n' + "mm,c,1\n" * 50_000, "field larger than field limit"),
    "text after a quote": (HEADER + 'mm,"b"c,1\n', "',' expected after '\"', in the row that starts in line 2"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_no_result_file_is(name: str, tmp_path: Path) -> None:
    text, problem = BAD_FILES[name]
    with pytest.raises(Refused) as caught:
        read(tmp_path, text)
    assert caught.value.found.startswith(problem)
    assert caught.value.where == str(tmp_path / "results.csv")
    assert caught.value.expected


BAD_COLUMNS: dict[str, tuple[str, list[str]]] = {
    "milliseconds": (
        "kernel,shape,time_ms",
        ["time_us: missing; 'time_ms' looks like another unit: multiply its values by 1000, then rename it to time_us"],
    ),
    "nanoseconds": (
        "kernel,shape,DurationNs (ns)",
        ["time_us: missing; 'DurationNs (ns)' looks like another unit: divide its values by 1000, then rename it to time_us"],
    ),
    "seconds": (
        "kernel,shape,s",
        ["time_us: missing; 's' looks like another unit: multiply its values by 1000000, then rename it to time_us"],
    ),
    "no unit": ("kernel,shape,time", ["time_us: missing; rename 'time' to time_us, if it is in microseconds"]),
    "a Greek unit": ("kernel,shape,time_µs", ["time_us: missing; rename 'time_µs' to time_us, if it is in microseconds"]),
    "a slip": ("kernal,shape,time_us", ["kernel: missing; rename 'kernal' to kernel, if it is that"]),
    "a longer name": ("kernel_name,shape,time_us", ["kernel: missing; rename 'kernel_name' to kernel, if it is that"]),
    "no shape": ("kernel,m,n,time_us", ["shape: missing"]),
    "one twice": ("kernel,shape,time_us,Time_US", ["time_us: 2 columns have that name"]),
    "two faults": ("kernel,kernel,time_us", ["kernel: 2 columns have that name", "shape: missing"]),
    "no header": ("mm,M=1,10", ["numbers in the first row: is the header missing?"]),
    "spaces as delimiters": ("kernel shape time_us", ["kernel: missing", "shape: missing", "time_us: missing"]),
}


@pytest.mark.parametrize("name", BAD_COLUMNS)
def test_what_to_do_about(name: str, tmp_path: Path) -> None:
    header, problems = BAD_COLUMNS[name]
    with pytest.raises(Refused) as caught:
        read(tmp_path, header + "\nmm,M=1,10,10\n")
    lines = caught.value.found.splitlines()
    assert lines[0].startswith("the columns ")
    assert [line.split("; rename 'kernel shape")[0] for line in lines[1:]] == problems


BAD_CELLS: dict[str, list[str]] = {
    "mm,M=1,": ["line 3: time_us is ''"],
    "mm,M=1,nan": ["line 3: time_us is 'nan'"],
    "mm,M=1,inf": ["line 3: time_us is 'inf'"],
    "mm,M=1,1e999": ["line 3: time_us is '1e999'"],
    "mm,M=1,0": ["line 3: time_us is '0'"],
    "mm,M=1,-1": ["line 3: time_us is '-1'"],
    "mm,M=1,1_000": ["line 3: time_us is '1_000'"],
    "mm,M=1,٣": ["line 3: time_us is '٣'"],
    'mm,M=1,"12,5"': ["line 3: time_us is '12,5'"],
    "mm,M=1,12 us": ["line 3: time_us is '12 us'"],
    "mm,M=1": ["line 3: 2 fields where the header has 3"],
    "mm,M=1,N=2,5": ["line 3: 4 fields where the header has 3"],
    ", ,x": ["line 3: kernel is empty", "line 3: shape is empty", "line 3: time_us is 'x'"],
    '"m\nm",M=1,0': ["line 3: time_us is '0'"],
}


@pytest.mark.parametrize("row", BAD_CELLS)
def test_no_measurement_is(row: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read(tmp_path, f"{HEADER}mm,M=1,10\n{row}\nmm,M=1,10\n")
    assert caught.value.found.splitlines() == BAD_CELLS[row]


def test_lines_are_counted_over_fields_that_span_them(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read(tmp_path, HEADER + '"m\n\nm",M=1,1\n\nmm,M=1,x\n')
    assert caught.value.found == "line 6: time_us is 'x'"


def test_problems_come_together_but_not_without_end(tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read(tmp_path, HEADER + "mm,M=1,x\n" * 25)
    assert caught.value.code == "results-have-problems"
    lines = caught.value.found.splitlines()
    assert (len(lines), lines[-1]) == (11, "and 15 more")


@pytest.mark.parametrize(("name", "found"), [("nothing.csv", "No such file"), (".", "Is a directory"), ("a\0b", "null byte")])
def test_what_cannot_be_read_is_refused(name: str, found: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        times_of(tmp_path / name)
    assert found in caught.value.found
