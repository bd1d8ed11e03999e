import json
import re
from pathlib import Path

import pytest

from expctl.adapters.codec.record_codec import record_bytes, record_of
from expctl.adapters.codec.strict_yaml import load
from expctl.domain.experiment.finding import FindingsFile
from expctl.domain.experiment.ids import check_id, id_order
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Origin, Record

FOLDER = Path(__file__).parents[2] / "experiments"
IDS = ["P0", "P1", "P2", "P3", "P4", "P5", "P6", "P6-A", "P6-B", "P7", "P8", "P8b", "P9", "P10", "P11", "P12", "P13", "P14"]

# What the hand-kept table and its snapshot say, row by row.
FIGURES = {
    "P0": ["42.86k"],
    "P1": ["+0.15 %"],
    "P2": ["cvt_pk_f16_fp8", "gfx1250"],
    "P3": ["(1,8,2,2,16,1)", "+0.24 %"],
    "P4": ["s_setprio"],
    "P5": ["+0.13 %"],
    "P6": ["HIP_PREPACKED_OVERLAP_MODE"],
    "P6-A": ["2-3 %", "24.999", "25.651", "2.6 %", "25.695", "26.230", "2.1 %"],
    "P6-B": ["SQ_BUSY_CYCLES"],
    "P7": ["s_setprio 2"],
    "P8": ["(1,8,2,4,8,2)"],
    "P8b": ["stage"],
    "P9": ["43.77k"],
    "P10": ["42.04k", "(2,2,2,2,4,4)"],
    "P11": ["0.068", "30.6"],
    "P12": ["0.034", "39.2"],
    "P13": ["volatile uint4"],
    "P14": ["42.68k", "25.65 us", "25.653 us", "35.89k", "24.996 ms", "43.99k", "(1,8,2,2,8,2)", "5/5"],
}

# The eight corrections: which rows carry each, and words that say it.
CORRECTIONS = [
    (("P6-A", "P14"), "in us are ms"),
    (("P0", "P9", "P10", "P11", "P12", "P14"), "stopped at 512\\^3.*no run checked that repeated launches"),
    (("P11", "P12"), "open again on a race-free baseline"),
    (("P10",), "Two different autotuned configs"),
    (("P0", "P9", "P14"), "max abs <= 1.0 is about one fp16 ulp"),
    (("P1",), "inside the noise: \\+0.15 %"),
    (("P3",), "inside the noise: \\+0.24 %"),
    (("P14",), "42.68k is 2.5 % below the 43.77k of P9"),
    (("P0", "P9", "P14"), "Zero inputs .* 13 % faster"),
    (("P6", "P6-A", "P6-B"), "off-switch inside a patched kernel is no control"),
    (("P11", "P12"), "Ids were re-used"),
]


def read(name: str) -> Record:
    return record_of((FOLDER / name / "record.json").read_bytes(), where=f"experiments/{name}/record.json")


@pytest.mark.parametrize("name", IDS)
def test_an_imported_record_is_strict_and_canonical(name: str) -> None:
    text = (FOLDER / name / "record.json").read_bytes()
    record = record_of(text, where=name)
    assert record_bytes(record) == text
    assert (record.id, record.origin, record.target) == (check_id(name), Origin.IMPORTED, "gfx1151")
    assert record.history is not None
    assert not record.estimates, "an imported figure has no samples, so it has no interval"


@pytest.mark.parametrize("name", IDS)
def test_an_imported_record_brings_no_proposal_and_no_patch(name: str) -> None:
    assert [path.name for path in (FOLDER / name).iterdir()] == ["record.json"]


def test_every_row_of_the_history_is_here_and_no_other() -> None:
    found = [path.parent.name for path in FOLDER.glob("*/record.json") if read(path.parent.name).origin is Origin.IMPORTED]
    assert sorted(found, key=id_order) == IDS


def test_verdicts_and_kinds_are_those_of_the_table() -> None:
    kept = [name for name in IDS if read(name).verdict is Verdict.KEEP]
    assert kept == ["P0", "P5", "P6", "P6-A", "P6-B", "P8b", "P9", "P14"]
    assert all(read(name).verdict is Verdict.REJECT for name in IDS if name not in kept)
    assert [name for name in IDS if read(name).kind is Kind.ANALYSIS] == ["P5", "P6", "P6-A", "P6-B"]
    assert (read("P8").kind, read("P8b").kind) == (Kind.CONFIG, Kind.INFRA)


def test_only_the_snapshot_is_dated() -> None:
    assert {name: read(name).date for name in IDS if read(name).date} == {"P14": "2026-02-18"}


@pytest.mark.parametrize("name", IDS)
def test_every_figure_of_the_table_is_in_the_record(name: str) -> None:
    text = json.dumps(json.loads((FOLDER / name / "record.json").read_text(encoding="utf-8")), ensure_ascii=False)
    assert [figure for figure in FIGURES[name] if figure not in text] == []


@pytest.mark.parametrize(("carriers", "words"), CORRECTIONS)
def test_each_correction_is_where_it_belongs(carriers: tuple[str, ...], words: str) -> None:
    found = []
    for name in IDS:
        history = read(name).history
        if history is not None and any(re.search(words, text) for text in history.corrections):
            found.append(name)
    assert tuple(found) == carriers


def test_every_reject_and_the_removed_toggles_leave_a_rule() -> None:
    ruled = [name for name in IDS if read(name).rule is not None]
    assert ruled == ["P1", "P2", "P3", "P4", "P7", "P8", "P10", "P11", "P12", "P13", "P14"]
    for name in ruled:
        rule = read(name).rule
        assert rule is not None
        assert rule.conditions["architecture"] == "gfx1151"


def test_only_the_rules_that_a_race_may_explain_are_open_again() -> None:
    opened = {}
    for name in IDS:
        rule = read(name).rule
        if rule is not None and rule.reopened_by:
            opened[name] = rule.reopened_by
    assert opened == {"P11": "race-free baseline", "P12": "race-free baseline"}


def test_the_split_row_says_that_it_was_split() -> None:
    assert "P8b" in " ".join(read("P8").notes)
    assert "P8" in " ".join(read("P8b").notes)


def test_findings_are_well_formed_and_rest_on_records() -> None:
    found = load((FOLDER / "findings.yaml").read_bytes(), FindingsFile, where="experiments/findings.yaml").findings
    assert len(found) >= 10
    for finding in found:
        assert finding.kind in ("measured", "imported", "external")
        assert finding.since
        assert all((FOLDER / name / "record.json").exists() for name in finding.evidence)


def test_the_figures_of_the_rival_are_kept() -> None:
    text = (FOLDER / "findings.yaml").read_text(encoding="utf-8")
    for figure in ["0.952", "40.186", "1.039", "42.176", "26.069", "27.361", "201", "212", "17408", "40.272", "41.082"]:
        assert figure in text
