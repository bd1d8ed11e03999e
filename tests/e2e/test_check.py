"""`expctl check` as typed, in a folder that is no repository: from a kernel to its race."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from expctl.check import FaultsFound
from tests.check.made import CASE, RACY, SUM
from tests.e2e.foreign import Answer, run_expctl
from tests.refusals import printed_code

pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
PAGE = Path(__file__).parents[2] / "docs/CHECK.md"


def expctl(folder: Path, *words: str) -> Answer:
    environment = {"PATH": str(folder), "HOME": str(folder), "LANG": "C.UTF-8", "GIT_CEILING_DIRECTORIES": str(folder.parent)}
    return run_expctl(words, folder, environment)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sum.hip").write_text(SUM)
    (tmp_path / "racy.hip").write_text(RACY)
    (tmp_path / "case.py").write_text(CASE)
    (tmp_path / "note.txt").write_text("hello\n")
    return tmp_path


def check(folder: Path, file: str, *words: str) -> Answer:
    return expctl(folder, "check", file, "--launch", "case.py", *words)


def line_of(source: str, text: str) -> int:
    return next(i for i, line in enumerate(source.splitlines(), 1) if text in line)


def test_kernels_are_listed_and_the_proposal_can_be_launched(folder: Path) -> None:
    answer = expctl(folder, "check", "sum.hip")
    assert answer.status == 0, answer.err
    assert "#   block_sum(float const*, float*, int)" in answer.out
    assert "#   twice(float*, int)" in answer.out
    proposed = expctl(folder, "check", "sum.hip", "--kernel", "twice")
    (folder / "twice.yaml").write_text(proposed.out)
    text = (folder / "twice.yaml").read_text()
    assert "{name: x, dtype: f32, shape: [n], role: out}" in text
    ran = expctl(folder, "check", "sum.hip", "--launch", "twice.yaml")
    assert (ran.status, "uninitialised" in ran.out) == (1, True), "it reads what the proposal takes for an output"
    (folder / "twice.yaml").write_text(text.replace("role: out", "role: inout"))
    assert expctl(folder, "check", "sum.hip", "--launch", "twice.yaml").status == 0


def test_a_right_kernel_is_clean_at_many_shapes(folder: Path) -> None:
    answer = check(folder, "sum.hip", "--fuzz-shapes", "6", "--orders", "2")
    assert (answer.status, answer.err) == (0, "")
    assert answer.out == "block_sum(float const*, float*, int): nothing found in 14 launches (2 orders a shape, seed 0)\n"


def test_a_race_is_told_with_both_lines(folder: Path) -> None:
    answer = check(folder, "racy.hip")
    assert answer.status == 1, answer.err
    at = line_of(RACY, "+= tile")
    assert any(line.startswith(f"racy.hip:{at}:") and ": race: " in line for line in answer.out.splitlines()), answer.out
    assert "        if (t < half) tile[t] += tile[t + half];" in answer.out
    assert "note: read here" in answer.out


def test_a_fault_is_shrunk_to_the_smallest_shape(folder: Path) -> None:
    wrong = SUM.replace("i < n ? x[i] : 0.0f", "i < (n + 31) / 32 * 32 ? x[i] : 0.0f")
    (folder / "edge.hip").write_text(wrong)
    (folder / "case.py").write_text(CASE.replace('"n": 1000', '"n": 992'))
    assert check(folder, "edge.hip").status == 0, "whole waves hide it"
    facts = json.loads(check(folder, "edge.hip", "--fuzz-shapes", "10", "--orders", "1", "--json").out)
    assert facts["shapes"] == {"n": 1}
    assert facts["drawn"]["n"] % 32 != 0
    first = facts["findings"][0]
    assert (first["kind"], first["place"]["line"]) == ("out of bounds", line_of(wrong, "(n + 31)"))
    assert "x[1], outside its 1 element" in first["what"]
    again = json.loads(check(folder, "edge.hip", "--fuzz-shapes", "10", "--orders", "1", "--json").out)
    assert again == facts


def test_wrong_results_and_changed_inputs_are_faults(folder: Path) -> None:
    (folder / "wrong.hip").write_text(SUM.replace("out[blockIdx.x] = tile[0]", "out[blockIdx.x] = tile[0] + (n == 1000)"))
    answer = check(folder, "wrong.hip")
    assert answer.status == 1
    assert f"wrong.hip:{line_of(SUM, 'block_sum')}:17: wrong result: out[0] is " in answer.out
    (folder / "changed.hip").write_text(
        SUM.replace("    if (t == 0)", "    if (t == 5) ((float *)x)[i] = 1.0f;\n    if (t == 0)")
    )
    answer = check(folder, "changed.hip")
    assert "input changed: x[5] was " in answer.out


def test_sarif_is_written_beside_the_text(folder: Path) -> None:
    answer = check(folder, "racy.hip", "--sarif", "out.sarif")
    assert answer.status == 1
    run = json.loads((folder / "out.sarif").read_text())["runs"][0]
    assert {result["ruleId"] for result in run["results"]} >= {"race"}
    place = run["results"][0]["locations"][0]["physicalLocation"]
    assert (place["artifactLocation"]["uri"], place["region"]["startLine"]) == ("racy.hip", line_of(RACY, "+= tile"))


def test_assembly_is_its_own_source(folder: Path) -> None:
    from expctl.inspection.device_compiler import Options, compile_source

    (folder / "sum.s").write_text(compile_source(folder / "racy.hip", Options(arch="gfx1151")).assembly)
    answer = check(folder, "sum.s")
    assert answer.status == 1, answer.err
    assert any(line.startswith("sum.s:") and ": race: " in line for line in answer.out.splitlines())


def test_an_unknown_instruction_is_named_with_its_source(folder: Path) -> None:
    asm = SUM.replace("    if (t == 0)", '    asm volatile("s_ttracedata");\n    if (t == 0)')
    (folder / "odd.hip").write_text(asm)
    answer = check(folder, "odd.hip")
    assert (answer.status, answer.out, printed_code(answer.err)) == (1, "", "assembly-not-supported")
    assert "s_ttracedata" in answer.err
    assert f"odd.hip:{line_of(asm, 's_ttracedata')}" in answer.err


def test_an_endless_loop_is_a_fault(folder: Path) -> None:
    (folder / "loop.hip").write_text(SUM.replace("half /= 2", "half /= (n == 1000 ? 1 : 2)"))
    answer = check(folder, "loop.hip", "--orders", "1")
    assert answer.status == 1, answer.err
    assert ": endless loop: " in answer.out


@pytest.mark.parametrize(
    ("words", "code", "status"),
    [
        (["check", "gone.hip"], "file-missing", 1),
        (["check", "."], "not-a-regular-file", 1),
        (["check", "sum.hip", "--launch", "case.py", "--orders", "1", "--sarif", "."], "file-not-writable", 1),
        (["check", "gone.hip", "--launch", "case.py", "--sarif", "new/x.sarif"], "file-not-writable", 1),
        (["check", "sum.hip", "--launch", "case.py", "--sarif", "sum.hip"], "file-not-writable", 1),
        (["check", "note.txt"], "not-checkable", 1),
        (["check", "sum.hip", "--kernel", "thrice"], "kernel-not-named", 1),
        (["check", "sum.hip", "--launch", "gone.yaml"], "file-not-readable", 1),
        (["check", "sum.hip", "--launch", "note.txt"], "case-has-problems", 1),
        (["check", "sum.hip", "--launch", "case.py", "--kernel", "twice"], "case-has-problems", 1),
        (["check", "sum.hip", "--sarif", "x.sarif"], "sarif-without-launch", 2),
        (["check", "sum.hip", "-O", "9"], "not-an-optimization-level", 2),
        (["check", "sum.hip", "--orders", "0"], "usage", 2),
        (["check"], "usage", 2),
    ],
)
def test_refusals(folder: Path, words: list[str], code: str, status: int) -> None:
    answer = expctl(folder, *words)
    assert (answer.status, answer.out, printed_code(answer.err)) == (status, "", code)
    assert not (folder / "new").exists()


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("return {'x': arrays['x']}", "reference-misfits"),
        ("return {'out': [1, 2, 3]}", "reference-misfits"),
        ("return {'out': arrays['y']}", "case-failed"),
        ("return {'out': type('Mine', (), {'__array__': lambda *_: 1 // 0})()}", "case-failed"),
        ("return None", "reference-misfits"),
    ],
)
def test_a_reference_that_fails_is_refused(folder: Path, body: str, code: str) -> None:
    (folder / "case.py").write_text(CASE.split("    whole =")[0] + f"    {body}\n")
    answer = check(folder, "sum.hip")
    assert (answer.status, answer.out, printed_code(answer.err)) == (1, "", code)


def mended(source: str) -> str:
    """Return the page's kernel with the barrier that it lacks."""
    braced = source.replace("half /= 2)", "half /= 2) {")
    return braced.replace("tile[t + half];", "tile[t + half];\n        __syncthreads();\n    }")


def test_the_page_s_python_runs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = PAGE.read_text()
    (source,) = re.findall(r"^```c\+\+\n(.*?)^```", page, re.M | re.S)
    described, tested = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    (folder / "case.py").write_text(described)
    (folder / "sum.hip").write_text(source)
    assert "race: " in check(folder, "sum.hip", "--orders", "1").out
    (folder / "sum.hip").write_text(mended(source))
    assert check(folder, "sum.hip", "--orders", "1").status == 0
    monkeypatch.chdir(folder)
    names: dict[str, Any] = {}
    exec(tested, names)
    names["test_block_sum"]()
    (folder / "sum.hip").write_text(source)
    with pytest.raises(FaultsFound, match="race: "):
        names["test_block_sum"]()


def test_the_page_shows_what_is_printed(folder: Path) -> None:
    source, proposed, printed = re.findall(r"^```(?:c\+\+|yaml|)\n(.*?)^```", PAGE.read_text(), re.M | re.S)[:3]
    (folder / "sum.hip").write_text(source)
    assert expctl(folder, "check", "sum.hip").out == proposed
    corrected = proposed.replace("shape: [n], role: out", 'shape: ["(n + 255) // 256"], role: out')
    assert corrected != proposed
    (folder / "block_sum.yaml").write_text(corrected)
    command, _, text = printed.partition("\n")
    answer = expctl(folder, *command.removeprefix("$ expctl ").split())
    assert (answer.status, answer.out) == (1, text)
    (folder / "sum.hip").write_text(mended(source))
    assert expctl(folder, *command.removeprefix("$ expctl ").split(), "--fuzz-shapes", "20").status == 0
