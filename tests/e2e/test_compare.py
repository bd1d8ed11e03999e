"""`expctl compare` as typed, in a folder that is no repository."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.foreign import EXPCTL, Answer, errors_in, run_expctl

HEADER = "kernel,shape,time_us\n"
GOLDEN = HEADER + "mm,M=1,100\nmm,M=2,200\nmm,M=3,2\n"
SLOWER = HEADER + "mm,M=1,120\nmm,M=2,200\nmm,M=3,9\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    files = {
        "golden.csv": GOLDEN,
        "slower.csv": SLOWER,
        "golden.json": '{"triton": "3.4.0"}',
        "tot.json": '{"triton": "3.7.0"}',
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    return tmp_path


def compare(folder: Path, *words: str) -> Answer:
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "GIT_CEILING_DIRECTORIES": str(folder.parent),
    }
    return run_expctl(("compare", *words), folder, environment)


def test_table_csv_and_json_say_the_same(folder: Path) -> None:
    words = ("golden.csv", "slower.csv", "--golden-env", "golden.json", "--tot-env", "tot.json")
    table, as_csv, as_json = (compare(folder, *words, *form) for form in ([], ["--csv"], ["--json"]))
    assert [(each.status, each.err) for each in (table, as_csv, as_json)] == [(0, "")] * 3
    assert "* triton       3.4.0   3.7.0\n" in table.out
    assert table.out.endswith("\n1 regression, 0 improved, 1 same, 1 ignored, 0 unstable, 0 missing\n")
    assert as_csv.out.splitlines()[1] == "mm,M=1,100.0,120.0,20.0,1.2,regression,1,1,,,"
    facts = as_json.json()
    assert isinstance(facts, dict)
    assert facts["counts"] == {"regression": 1, "improved": 0, "same": 1, "ignored": 1, "unstable": 0, "missing": 0}
    assert facts["environments"] == {"golden": {"triton": "3.4.0"}, "tot": {"triton": "3.7.0"}, "differing": ["triton"]}
    assert facts["rows"][0] == {
        "kernel": "mm",
        "shape": "M=1",
        "golden_us": 100.0,
        "tot_us": 120.0,
        "ratio": 1.2,
        "delta_us": 20.0,
        "status": "regression",
        "golden_rows": 1,
        "tot_rows": 1,
        "golden_sd_us": None,
        "tot_sd_us": None,
        "remarks": [],
    }


def test_a_gate_fails_for_a_regression_and_for_nothing_to_compare(folder: Path) -> None:
    (folder / "other.csv").write_text(HEADER + "other,M=1,5\n")
    for form in ([], ["--json"], ["--csv"]):
        assert compare(folder, "golden.csv", "slower.csv", "--fail-on-regression", *form).status == 1
        assert compare(folder, "slower.csv", "golden.csv", "--fail-on-regression", *form).status == 0
        assert compare(folder, "golden.csv", "other.csv", "--fail-on-regression", *form).status == 1
        assert compare(folder, "golden.csv", "other.csv", *form).status == 0


@pytest.mark.parametrize(
    ("words", "status", "says"),
    [
        (["golden.csv", "none.csv"], 1, "No such file or directory"),
        (["golden.csv", "."], 1, "Is a directory"),
        (["golden.csv", "tot.json"], 1, "expected  kernel, shape, time_us"),
        (["golden.csv", "slower.csv", "--tot-env", "golden.csv"], 1, "a JSON object"),
        (["golden.csv", "slower.csv", "--csv", "--json"], 2, "--csv or --json"),
        (["golden.csv"], 2, "TOT.csv"),
    ],
)
def test_one_clear_error_for(folder: Path, words: list[str], status: int, says: str) -> None:
    answer = compare(folder, *words)
    assert (answer.status, answer.out, len(errors_in(answer.err))) == (status, "", 1)
    assert says in answer.err


def test_nothing_heavy_is_loaded(folder: Path) -> None:
    program = [sys.executable, "-X", "importtime", str(EXPCTL), "compare", "golden.csv", "slower.csv"]
    ended = subprocess.run(program, cwd=folder, capture_output=True, text=True, check=True)
    loaded = {line.rsplit("|", 1)[1].strip().split(".")[0] for line in ended.stderr.splitlines() if line.count("|") == 2}
    assert "expctl" in loaded
    assert loaded & {"torch", "numpy", "git", "yaml", "psutil", "jinja2", "rich"} == set()
