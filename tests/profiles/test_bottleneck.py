"""What to work on next, what it can give, and whether a claimed gain is possible."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.adapters.playbooks.shelf import playbooks
from expctl.profiles.bottleneck import ladder
from expctl.profiles.bottleneck.amdahl import ClaimVerdict, check_claim, most_saved
from expctl.profiles.bottleneck.ladder import Rung
from tests.profiles.conftest import Shown
from tests.profiles.torch_traces import Launched, write_trace

Run = Callable[..., Shown]
BERT = "torch_cuda12.4_h100.json"


@given(share=st.floats(0.01, 100), gain=st.floats(0.1, 1000))
def test_a_faster_part_saves_what_a_stop_watch_would_show(share: float, gain: float) -> None:
    after = (100 - share) + share / gain
    assert most_saved(share, gain) == pytest.approx(100 - after, abs=1e-9)


@given(share=st.floats(0.01, 100), gain=st.floats(1.0, 1000), beyond=st.floats(0.001, 100))
def test_a_claim_beyond_the_bound_is_invalid_and_none_within_it(share: float, gain: float, beyond: float) -> None:
    most = most_saved(share, gain)
    assert check_claim(share, gain, most + beyond).verdict is ClaimVerdict.INVALID
    assert check_claim(share, gain, most).verdict is ClaimVerdict.POSSIBLE


def test_a_real_model_whose_gpu_is_idle(golden: Callable[[str], Path], bottleneck: Run) -> None:
    found = json.loads(bottleneck(golden(BERT), "--json").out)
    assert found["next_part"] == "idle GPU"
    assert found["next_rung"]["level"] == 2
    assert sum(part["share_percent"] for part in found["parts"]) == pytest.approx(100)
    idle = found["parts"][0]
    assert idle["share_percent"] == pytest.approx(100 * 3.601e6 / (3.601e6 + 307.2e3), abs=0.05)
    (products,) = [part for part in found["parts"] if part["name"] == "GEMM"]
    assert 0 < products["roof_percent"] < products["share_percent"]


def test_the_claim_in_the_terminal_and_by_exit_status(golden: Callable[[str], Path], bottleneck: Run) -> None:
    words = ("--class", "GEMM", "--kernel-gain", "2", "--claimed")
    within, beyond = bottleneck(golden(BERT), *words, "30"), bottleneck(golden(BERT), *words, "33")
    assert (within.status, beyond.status) == (0, 1)
    assert "possible: 64.32 % of the time, 2 times as fast: at most 32.16 % end to end" in within.out
    assert "INVALID: 64.32 % of the time" in beyond.out


def test_half_a_claim_is_refused(golden: Callable[[str], Path], bottleneck: Run) -> None:
    shown = bottleneck(golden(BERT), "--class", "GEMM", "--claimed", "5")
    assert (shown.status, "claim-incomplete" in shown.err) == (2, True)


def test_mend_the_profile_before_choosing(tmp_path: Path, bottleneck: Run) -> None:
    path = write_trace(tmp_path / "t.json", [Launched(name="gemm", us=590), Launched(name="mystery", us=410)])
    found = json.loads(bottleneck(path, "--json").out)
    assert (found["next_part"], found["next_rung"]["level"]) == ("other", 0)


WRITTEN_OUT = [
    Launched(name="k", us=9e3, operators=[("aten::bmm", [], [])]),
    Launched(name="s", operators=[("aten::_softmax", [], [])]),
]
RUNGS: list[tuple[list[Launched], str, int, str]] = [
    ([Launched(name="vectorized_elementwise_kernel", us=9e3)], "elementwise", 2, "torch.compile"),
    ([Launched(name="triton_poi_fused_add_mul_0", us=9e3)], "elementwise", 4, "inductor"),
    (
        [Launched(name="k", us=9e3, operators=[("aten::mm", [[64, 64], [64, 64]], ["float", "float"])])],
        "GEMM", 1, "matmul precision",
    ),
    (WRITTEN_OUT, "GEMM", 3, "scaled_dot_product_attention"),
]  # fmt: skip


@pytest.mark.parametrize(("kernels", "part", "level", "said"), RUNGS)
def test_rungs(tmp_path: Path, bottleneck: Run, kernels: list[Launched], part: str, level: int, said: str) -> None:
    found: dict[str, Any] = json.loads(bottleneck(write_trace(tmp_path / "t.json", kernels), "--json").out)
    assert (found["next_part"], found["next_rung"]["level"]) == (part, level)
    assert said in found["next_rung"]["advice"]


def test_a_rung_names_its_playbook(tmp_path: Path, bottleneck: Run) -> None:
    said = bottleneck(write_trace(tmp_path / "t.json", WRITTEN_OUT)).out
    assert said.rstrip().endswith("\n  playbook  expctl new --from 3-sdpa")


def test_every_playbook_that_a_rung_names_is_there() -> None:
    rungs = [each for each in vars(ladder).values() if isinstance(each, Rung)] + [*ladder._BY_CLASS.values()]
    named = {each.playbook: each.level for each in rungs if each.playbook}
    assert named
    assert named.keys() <= playbooks().keys()
    assert {name: int(name[0]) for name in named} == named
