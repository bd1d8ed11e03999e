"""The operator and the harness follow the tables of a target, one loader for both; a stale or forced one is not followed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from expctl.harness.report import Fault
from expctl.tables.facts import made_here
from expctl.tables.folder import DEFAULT, Family, special_name
from expctl.tables.operations import settings_of
from expctl.tables.table import Table
from kernel.harness import script_session
from kernel.harness.benchmark_worker import BenchmarkWorker
from kernel.harness.shapes import Extents
from kernel.operator import launches
from kernel.runtime import tables
from kernel.runtime.library import Config, Library, format_config

SQUARE, SMALL = "2,2,2,2,4,4", "1,2,4,2,2,2"


@pytest.fixture
def configs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setattr(tables.choose, "__defaults__", (tmp_path,))
    yield tmp_path
    tables.tables_for.cache_clear()


def write(configs: Path, file: str, config: str, **facts: str) -> None:
    folder = configs / "cpu/hip/gemm" / tables.OPERATION
    folder.mkdir(parents=True, exist_ok=True)
    made_with = {**made_here("cpu", {"ziglang": tables._version("ziglang")}), **facts}
    entries = {"M_LEQ_64": settings_of(config), "any": None}
    (folder / file).write_text(Table(entries, made_with).text())
    tables.tables_for.cache_clear()


def auto(library: Library, *extents: int) -> tuple[str, str]:
    index, place = script_session.chosen_for(library, "auto", Extents(*extents))  # type: ignore[arg-type]
    assert launches.choose(library, *extents) == index
    return format_config(library.configs[index]), place


def test_both_take_the_build_choice_without_a_table(cpu_library: Library, configs: Path) -> None:
    assert not any(configs.iterdir())
    assert auto(cpu_library, 64, 96, 32) == (format_config(cpu_library.configs[cpu_library.config_for(64, 96)]), "")


def test_both_follow_the_default_and_a_special_file(cpu_library: Library, configs: Path) -> None:
    write(configs, DEFAULT, SQUARE)
    write(configs, special_name(tables.OPERATION, Family(512, 128)), SMALL)
    assert auto(cpu_library, 64, 96, 32) == (SQUARE, "DEFAULT.json, M_LEQ_64, not tuned")
    assert auto(cpu_library, 64, 512, 128)[0] == SMALL
    assert auto(cpu_library, 64, 512, 128)[1].endswith("N=512-K=128.json, M_LEQ_64, tuned")
    chosen = format_config(cpu_library.configs[cpu_library.config_for(65, 96)])
    assert auto(cpu_library, 65, 96, 32) == (chosen, "DEFAULT.json, any, not tuned")


def test_a_forced_config_goes_before_a_table(cpu_library: Library, configs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(configs, DEFAULT, SQUARE)
    monkeypatch.setenv("HIP_FORCE_CONFIG", SMALL)
    assert auto(cpu_library, 64, 96, 32) == (SMALL, "")


def test_a_stale_table_is_not_followed_and_what_differs_is_said(cpu_library: Library, configs: Path) -> None:
    write(configs, DEFAULT, SQUARE, device="Xeon")
    config, place = auto(cpu_library, 64, 96, 32)
    assert config == format_config(cpu_library.configs[cpu_library.config_for(64, 96)])
    assert place.startswith("tables refused: DEFAULT.json, device: made with Xeon, here ")


def test_a_config_that_the_build_lacks_is_the_harness_fault(cpu_library: Library, configs: Path) -> None:
    write(configs, DEFAULT, "1,4,4,2,4,4")
    with pytest.raises(Fault, match=r"M_LEQ_64.*1,4,4,2,4,4, not in the build"):
        auto(cpu_library, 64, 96, 32)


def test_every_target_without_a_table_chooses_as_before(cpu_library: Library) -> None:
    committed = [target for target in ("cpu", "sm_90", "gfx1151") if (tables.CONFIGS / target).exists()]
    for target in {"cpu", "sm_90", "gfx1151"} - set(committed):
        assert tables.tables_for(target, cpu_library.configs) is None


def test_a_size_may_name_its_config(cpu_library: Library) -> None:
    worker: Any = BenchmarkWorker(SimpleNamespace(build=cpu_library), "auto", None, None)  # type: ignore[arg-type]
    assert worker._product("64x512x128@2,2,2,2,4,4") == (Extents(64, 512, 128), (2, 2, 2, 2, 4, 4))
    assert worker._product("n=64") == (Extents.cube(64), "auto")
    asked: Config = worker._product("n=64@1,2,4,2,2,2")[1]
    assert cpu_library.index_of(asked) == 6
    with pytest.raises(Fault):
        worker._product("64x512x128@fast")
