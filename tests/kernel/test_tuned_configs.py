"""The table of tuned configs: what it says, what is written to it, and that a benchmark follows it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from expctl.harness.report import Fault, Report
from kernel.harness import autotune_scaled_mm, script_session, tuned_configs
from kernel.harness.script_session import asked_config, config_for, frozen_config
from kernel.harness.shapes import Extents
from kernel.runtime.library import WINNER, Config, Library
from tests.kernel.test_harness import run_script

BIG, SMALL = Extents.cube(8192), Extents.cube(4096)
SQUARE: Config = (2, 2, 2, 2, 4, 4)


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "tuned.json"
    file.write_text(json.dumps({"cpu": {"n=64": {"config": "2,2,2,2,4,4"}}, "gfx1151": {"n=8192": {"config": "1,8,2,2,8,2"}}}))
    monkeypatch.setattr(
        script_session, "tuned_config", lambda target, extents: tuned_configs.tuned_config(target, extents, file)
    )
    return file


def test_the_committed_table_has_the_sizes_of_the_kpi() -> None:
    assert [tuned_configs.tuned_config("gfx1151", size) for size in (BIG, SMALL)] == [WINNER, WINNER]
    assert tuned_configs.tuned_config("gfx1151", Extents(5, 64, 96)) is None
    assert script_session.KPI_CONFIGS["gfx1151"] == asked_config("tuned") == "tuned"


@pytest.mark.usefixtures("table")
def test_a_shape_that_was_not_tuned_is_the_builds_choice(cpu_library: Library) -> None:
    index, chooses = cpu_library.index_of, cpu_library.config_for
    build = SimpleNamespace(target="cpu", configs=cpu_library.configs, index_of=index, config_for=chooses)
    assert cpu_library.configs[config_for(build, "tuned", Extents.cube(64))] == SQUARE  # type: ignore[arg-type]
    assert config_for(build, "tuned", Extents.cube(65)) == cpu_library.config_for(65, 65)  # type: ignore[arg-type]


def test_what_is_forced_goes_before_the_table(monkeypatch: pytest.MonkeyPatch, cpu_library: Library) -> None:
    configs, index = cpu_library.configs, cpu_library.index_of
    build = SimpleNamespace(target="gfx1151", configs=configs, index_of=index, config_for=lambda *_: index(SQUARE))
    assert frozen_config(build, None) == "tuned"  # type: ignore[arg-type]
    monkeypatch.setenv("HIP_FORCE_CONFIG", "2,2,2,2,4,4")
    assert frozen_config(build, None) == SQUARE  # type: ignore[arg-type]
    assert frozen_config(build, WINNER) == WINNER  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text", ["", "[]", '{"gfx1151": 5}', '{"gfx1151": {"n=8192": 5}}', '{"gfx1151": {"n=8192": {"config": "1,8"}}}']
)
def test_a_bad_table_is_the_harness_fault(tmp_path: Path, text: str) -> None:
    (tmp_path / "t.json").write_text(text)
    with pytest.raises(Fault, match=r"t\.json"):
        tuned_configs.tuned_config("gfx1151", BIG, tmp_path / "t.json")


@pytest.mark.parametrize(("times", "chosen"), [((1.0, 2.0), WINNER), ((1.004, 1.0), WINNER), ((1.006, 1.0), SQUARE)])
def test_noise_alone_moves_no_choice(times: tuple[float, float], chosen: Config) -> None:
    assert tuned_configs.choose(dict(zip((WINNER, SQUARE), times, strict=True)), 0.5) == chosen


def test_writing_leaves_other_shapes_and_targets(table: Path) -> None:
    tuned_configs.write("cpu", "", {BIG: {WINNER: 2.0, SQUARE: 1.0}}, 0.5, table)
    assert [tuned_configs.tuned_config("cpu", size, table) for size in (BIG, Extents.cube(64))] == [SQUARE, SQUARE]
    assert tuned_configs.tuned_config("gfx1151", BIG, table) == WINNER
    assert tuned_configs.read(table)["cpu"]["n=8192"]["median_ms"] == {"1,8,2,2,8,2": 2.0, "2,2,2,2,4,4": 1.0}


def test_every_config_is_timed_and_the_choice_is_told(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], cpu_library: Library
) -> None:
    times = {index: (1_000_000 if config == SQUARE else 2_000_000) for index, config in enumerate(cpu_library.configs)}
    seen: list[int] = []

    def time_once(_session: object, config: int, *_: object) -> list[int]:
        seen.append(config)
        return [times[config]]

    monkeypatch.setattr(autotune_scaled_mm, "time_once", time_once)
    build = SimpleNamespace(target="gfx1151", configs=cpu_library.configs, index_of=cpu_library.index_of)
    session = SimpleNamespace(build=build)
    medians = autotune_scaled_mm.medians_of(session, script_session.FORMATS["e5m2"][0], BIG, 10)  # type: ignore[arg-type]
    assert sorted(seen) == sorted(autotune_scaled_mm.ROUNDS * list(times))
    autotune_scaled_mm.tell(Report(), session, BIG, medians)  # type: ignore[arg-type]
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "n=8192: chosen 2,2,2,2,4,4, in the table 1,8,2,2,8,2"
    assert said[1].split()[:2] == ["2,2,2,2,4,4", "1.0000"]
    assert said[1].endswith("<-")


def test_the_script_tunes_a_build_on_this_cpu(cpu_library: Library) -> None:
    status, lines = run_script("autotune_scaled_mm", cpu_library.path, "--sizes", "n=64", "--iterations", "10")
    assert (status, lines[-1]["ok"]) == (0, True)
