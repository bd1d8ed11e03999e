"""The operator's way to a GPU, on a machine without one: a stand-in computes on the CPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from benchmarks.operator import cases
from benchmarks.operator.stand_in import CPU, STREAM, StandIn
from kernel import op
from kernel.operator.builds import library_for
from kernel.runtime import tables
from kernel.runtime.library import DeviceLibrary, LaunchError, LibraryError, UnknownConfig


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    return StandIn(tmp_path_factory.mktemp("stand_in"))


@pytest.fixture(autouse=True)
def _anew(stand_in: StandIn, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tables.choose, "__defaults__", (tmp_path,))  # the stand-in has no config that sm_90's tables name
    tables.tables_for.cache_clear()
    library_for.cache_clear()
    stand_in.entered.clear()


def test_every_product_arrives_as_it_was_given(stand_in: StandIn) -> None:
    with stand_in.runs_for_the_cpu():
        configs = library_for("sm_90").configs
        every = [case for case in cases.all_cases("cpu", configs) if case.m * case.n * case.k < 1 << 20]
        wrong = {case.name: failure for case in every if (failure := cases.check(case, CPU).failure)}
    assert not wrong
    assert len(every) > 50
    assert (stand_in.opened, stand_in.stream) == (0, STREAM)


@pytest.mark.parametrize(("current", "entered"), [(1, [1]), (0, [1, 1])])
def test_launches_on_the_device_of_its_tensors(stand_in: StandIn, current: int, entered: list[int]) -> None:
    """Opening enters the device once; a launch enters it only where another is the current one."""
    a, packed = torch.ones(4, 16).half(), op.prepack(torch.ones(16, 8).to(torch.float8_e5m2))
    with stand_in.runs_for_the_cpu(ordinal=1, current=current):
        assert (op.scaled_mm(a, packed, 1.0) == 16).all()
    assert (stand_in.opened, stand_in.stream, stand_in.entered) == (1, STREAM + 1, entered)


def test_a_config_that_was_forced_is_not_remembered(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    a, packed = torch.ones(4, 16).half(), op.prepack(torch.ones(16, 8).to(torch.float8_e5m2))
    with stand_in.runs_for_the_cpu():
        monkeypatch.setenv("HIP_FORCE_CONFIG", "1,8,2,2,8,2")
        op.scaled_mm(a, packed, 1.0)
        forced = stand_in.config
        monkeypatch.delenv("HIP_FORCE_CONFIG")
        op.scaled_mm(a, packed, 1.0)
        chosen = stand_in.config
        monkeypatch.setenv("HIP_FORCE_CONFIG", "1,8,2,2,8,2")
        op.scaled_mm(a, packed, 1.0)
        library = library_for("sm_90")
    assert [library.configs[index] for index in (forced, stand_in.config)] == [(1, 8, 2, 2, 8, 2)] * 2
    assert library.configs[chosen] == (1, 2, 4, 2, 2, 2)


def test_a_launch_that_is_refused_says_why(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    a, packed = torch.ones(4, 16).half(), op.prepack(torch.ones(16, 8).to(torch.float8_e5m2))
    with stand_in.runs_for_the_cpu() as launch:
        with pytest.raises(LaunchError, match=r"b_dtype is 0 \(e4m3fn\) or 1 \(e5m2\) \(this is a stand-in\)"):
            launch(7, a, packed, 1.0, None, torch.empty(4, 8), 4, 8, 16)
        monkeypatch.setenv("HIP_FORCE_CONFIG", "9,9,9,9,9,9")
        with pytest.raises(UnknownConfig, match="HIP_FORCE_CONFIG is not a config of this build"):
            op.scaled_mm(a, packed, 1.0)


def test_a_build_without_streams_is_refused(stand_in: StandIn, tmp_path: Path) -> None:
    old = tmp_path / "old.so"
    old.write_bytes(stand_in.path.read_bytes().replace(b"scaled_mm_enqueue", b"scaled_mm_onqueue"))
    library = DeviceLibrary(old, "sm_90")
    with pytest.raises(LibraryError, match="scaled_mm_enqueue; build it anew"):
        library.enqueuer()
