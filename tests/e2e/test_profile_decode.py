"""`expctl profile decode` as typed, in a folder that is no repository."""

import json
from pathlib import Path

from tests.e2e.foreign import Answer, run_expctl

NAME = "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_MI16x16x16x1_SN_1LDSB1_PGR1_PLR3_WS32_WG32_4_1_WGM8"


def decode(folder: Path, *words: str) -> Answer:
    return run_expctl(("profile", "decode", *words), folder, {"LANG": "C.UTF-8"})


def test_a_name_and_what_the_generator_made_of_it(tmp_path: Path) -> None:
    (tmp_path / "solution.json").write_text('{"PrefetchLocalRead": 1, "PrefetchGlobalRead": 1}')
    answer = decode(tmp_path, NAME, "--record", "solution.json")
    assert answer.status == 0, answer.err
    assert "128 per workgroup, 4 waves of 32 lanes" in answer.out
    assert "PrefetchLocalRead: requested 3, record differs: 1" in answer.out
    assert "unknown   GSU, SU, SUS, SIA, ISA" in answer.out


def test_facts_as_json(tmp_path: Path) -> None:
    answer = decode(tmp_path, f"{NAME}.kd", "--json")
    assert answer.status == 0, answer.err
    facts = json.loads(answer.out)
    assert facts["kernel"]["tile"] == [128, 128, 32]
    assert facts["threads"]["workgroup"] == 128
    assert [key["parameter"] for key in facts["kernel"]["keys"]][:2] == ["1LDSBuffer", "PrefetchGlobalRead"]


def test_refusals(tmp_path: Path) -> None:
    (tmp_path / "twice.json").write_text('{"a": 1, "a": 2}')
    for words, status, said in (
        (("triton_poi_fused_add_0",), 1, "not the name of a Tensile kernel"),
        ((NAME, "--record", "absent.json"), 1, "cannot read the record"),
        ((NAME, "--record", "twice.json"), 1, "a key appears twice"),
        ((), 2, "Missing argument"),
    ):
        answer = decode(tmp_path, *words)
        assert (answer.status, said in answer.err) == (status, True), answer.err
        assert "Traceback" not in answer.err
