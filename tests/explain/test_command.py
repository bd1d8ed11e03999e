"""`expctl explain` as typed, in a folder that is no repository."""

import json
import re
from pathlib import Path

import pytest

from tests.e2e.foreign import Answer, run_expctl
from tests.explain.made import PRODUCT, PRODUCT_CASE
from tests.refusals import printed_code

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
ROOT = Path(__file__).parents[2]
PRODUCT_OF_A_STRANGER = ROOT / "benchmarks/check/strangers_kernels/sgemm_double_buffer"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "padded.hip").write_text(PRODUCT)
    (tmp_path / "conflicts.hip").write_text(PRODUCT.replace("tile[32][33]", "tile[32][32]"))
    (tmp_path / "two.hip").write_text(PRODUCT + PRODUCT.split("\n", 1)[1].replace("product", "twice"))
    (tmp_path / "short.yaml").write_text("grid: [1]\nblock: [32]\narguments: []\n")
    (tmp_path / "case.py").write_text(f"case = {PRODUCT_CASE}\n")
    return tmp_path


def explain(folder: Path, *words: str, columns: int = 0) -> Answer:
    environment = {"PATH": str(folder), "HOME": str(folder), "LANG": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    return run_expctl(("explain", *words), folder, environment | ({"COLUMNS": str(columns)} if columns else {}))


def test_a_source_by_its_lines(folder: Path) -> None:
    answer = explain(folder, "padded.hip", "--launch", "case.py")
    assert (answer.status, answer.err) == (0, "")
    at = next(i for i, text in enumerate(PRODUCT.splitlines(), 1) if "tile[threadIdx.x]" in text)
    (row,) = [line for line in answer.out.splitlines() if line.endswith("threadIdx.x];") and line.split()[0] == str(at)]
    assert "tile[threadIdx.x]" in row
    assert "hot loop: " in answer.out
    assert "Bound by " in answer.out


def test_bank_conflicts_are_told_with_their_line_and_the_difference(folder: Path) -> None:
    facts = json.loads(explain(folder, "conflicts.hip", "--launch", "case.py", "--json").out)
    assert facts["schema"] == "expctl.explain/1"
    assert facts["total"]["passes"] - facts["total"]["passes_least"] == 31, "a column of 32 rows, all in one bank"
    assert any("LDS passes: " in each and "of the 31 too many" in each and "conflicts.hip:" in each for each in facts["bounds"])
    both = json.loads(explain(folder, "conflicts.hip", "padded.hip", "--launch", "case.py", "--json").out)
    assert both["schema"] == "expctl.explain-diff/1"
    assert both["a"] | {"schema": ""} == facts | {"schema": ""}
    assert both["b"]["total"]["passes"] == both["b"]["total"]["passes_least"]
    assert "→" in explain(folder, "conflicts.hip", "padded.hip", "--launch", "case.py").out


def test_assembly_is_its_own_source(folder: Path) -> None:
    from expctl.inspection.device_compiler import Options, compile_source

    (folder / "made.s").write_text(compile_source(folder / "padded.hip", Options(arch="gfx1151")).assembly)
    from_text, from_source = (
        json.loads(explain(folder, file, "--launch", "case.py", "--json").out) for file in ("made.s", "padded.hip")
    )
    for name, figure in from_source["total"].items():
        assert from_text["total"][name] == (pytest.approx(figure)), name
    assert len(from_text["lines"]) == from_text["statements"]


def test_the_kpi_kernel_at_the_case_beside_the_benchmarks(folder: Path) -> None:
    config = ("-D", "SCALED_MM_CONFIG=1,8,2,2,8,2", "--launch", str(ROOT / "benchmarks/check/scaled_mm.yaml"))
    facts = json.loads(explain(folder, str(ROOT / "kernel/hip/scaled_mm.hip"), *config, "--json").out)
    assert (facts["total"]["instructions"]["matrix"], facts["per_matrix"]["passes"]) == (32, 5)
    assert facts["iterations"] == 8 * (facts["shapes"]["k"] // 32 - 1), "the last chunk is not in the loop"
    assert "notes" not in facts


def test_the_page_shows_what_is_printed(folder: Path) -> None:
    for name in ("kernel.hip", "case.py"):
        (folder / name).write_text((PRODUCT_OF_A_STRANGER / name).read_text())
    (folder / "unpadded.hip").write_text((folder / "kernel.hip").read_text().replace("TS + 1", "TS"))
    one, two = re.findall(r"^```\n(.*?)^```", (ROOT / "docs/EXPLAIN.md").read_text(), re.M | re.S)
    for block in (one, two):
        command, text = re.findall(r"^\$ expctl explain (.*?)\n(.*)", block, re.M | re.S)[0]
        answer = explain(folder, *command.split(), columns=110)
        assert (answer.status, answer.out) == (0, text)


@pytest.mark.parametrize("columns", [80, 120])
@pytest.mark.parametrize("files", [["conflicts.hip"], ["conflicts.hip", "padded.hip"]])
def test_it_fits(folder: Path, files: list[str], columns: int) -> None:
    answer = explain(folder, *files, "--launch", "case.py", columns=columns)
    assert answer.status == 0, answer.err
    assert [line for line in answer.out.splitlines() if len(line) > columns] == []


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["gone.hip"], "file-missing", 1),
        (["case.py"], "not-checkable", 1),
        (["two.hip"], "kernel-not-named", 1),
        (["two.hip", "--kernel", "thrice"], "kernel-not-named", 1),
        (["two.hip", "--launch", "case.py"], "kernel-not-named", 1),
        (["padded.hip", "--launch", "gone.yaml"], "file-not-readable", 1),
        (["padded.hip", "--launch", "short.yaml"], "case-has-problems", 1),
        (["padded.hip", "-O", "9"], "not-an-optimization-level", 2),
        ([], "usage", 2),
    ],
)
def test_refusals(folder: Path, words: list[str], code: str, status: int) -> None:
    answer = explain(folder, *words)
    assert (answer.status, answer.out, printed_code(answer.err)) == (status, "", code)
