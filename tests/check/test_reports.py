"""A check's result as text and as SARIF."""

import json
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from expctl.check.examine import Examined
from expctl.check.findings import Finding
from expctl.check.places import Place
from expctl.check.sarif import RULES, sarif
from expctl.check.terminal import check_lines

RACE = Finding(
    kind="race",
    what="wave 1 reads tile[4], no barrier between",
    place=Place(file="dir/my kernel.hip", line=57, column=12, text="    float v = tile[i];"),
    other=Place(file="dir/my kernel.hip", line=41, column=5, text="\ttile[i] = x[i];"),
    line=100,
    other_line=90,
    instruction="ds_load_b32 v1, v0",
    other_instruction="ds_store_b32 v0, v1",
    orders=(0, 1, 2),
)
WRONG = Finding(kind="wrong result", what="y[3] is 1, expected 2; 1 of 9 elements is so", orders=(1,))
RESULT = Examined(
    file="dir/my kernel.hip",
    kernel="sum(float*)",
    symbol="_Z3sumPf",
    arch="gfx1151",
    compiler="clang",
    orders=3,
    seed=0,
    launches=21,
    shapes={"n": 33},
    drawn={"n": 999},
    findings=(RACE, WRONG),
    notes=("z[0] was never written",),
)


def test_findings_as_a_compiler_prints_them() -> None:
    assert check_lines(RESULT) == [
        "dir/my kernel.hip:57:12: race: wave 1 reads tile[4], no barrier between",
        "   57 |     float v = tile[i];",
        "      |            ^",
        "dir/my kernel.hip:41:5: note: written here",
        "   41 |  tile[i] = x[i];",
        "      |     ^",
        "wrong result: y[3] is 1, expected 2; 1 of 9 elements is so (in 1 of 3 orders)",
        "note: z[0] was never written",
        "sum(float*): 2 faults at n = 33, in 21 launches (3 orders a shape, seed 0)",
        "first seen at n = 999; n = 33 is the smallest that shows it",
    ]


def test_a_clean_result_is_one_line() -> None:
    clean = replace(RESULT, findings=(), notes=(), drawn=None, launches=1)
    assert check_lines(clean) == ["sum(float*): nothing found in 1 launch (3 orders a shape, seed 0)"]


def test_lines_fit_the_terminal_and_the_mark_stays_below_its_column() -> None:
    place = Place(file="k.hip", line=7, column=140, text="x" * 139 + "HERE" + "y" * 60)
    lines = check_lines(replace(RESULT, findings=(replace(RACE, place=place, what="word " * 40),)), 60)
    assert max(map(len, lines)) <= 60
    source, mark = next((a, b) for a, b in pairwise(lines) if "HERE" in a)
    assert source[mark.index("^") :].startswith("HERE")


def test_a_line_of_the_source_can_t_drive_the_terminal() -> None:
    place = Place(file="k.hip", line=1, text="\x1b[2Jx\u202e")
    assert "   1 | ?[2Jx?" in [line[1:] for line in check_lines(replace(RESULT, findings=(replace(RACE, place=place),)))]


def test_many_findings_are_counted() -> None:
    lines = check_lines(replace(RESULT, findings=(WRONG,) * 25, notes=()))
    assert lines[20] == "and 5 more (--json has all)"


def test_sarif_has_what_a_code_host_needs() -> None:
    document = json.loads(json.dumps(sarif(RESULT, "1.2")))
    assert (document["version"], document["$schema"]) == ("2.1.0", "https://json.schemastore.org/sarif-2.1.0.json")
    (run,) = document["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert len(rules) == len(set(rules)) == len(RULES)
    race, wrong = run["results"]
    assert {race["ruleId"], wrong["ruleId"]} <= set(rules)
    assert race["message"]["text"] == "race: wave 1 reads tile[4], no barrier between (sum(float*) at n = 33)"
    region = {"startLine": 57, "startColumn": 12}
    here = {"physicalLocation": {"artifactLocation": {"uri": "dir/my%20kernel.hip"}, "region": region}}
    assert race["locations"] == [here]
    assert race["relatedLocations"][0]["physicalLocation"]["region"] == {"startLine": 41, "startColumn": 5}
    assert wrong["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_an_absolute_path_is_a_uri(tmp_path: Path) -> None:
    file = str(tmp_path / "k 1.hip")
    (result,) = sarif(replace(RESULT, findings=(replace(RACE, place=Place(file=file, line=1)),)), "1")["runs"][0]["results"]
    assert result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == Path(file).as_uri()
