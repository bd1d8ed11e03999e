"""The operator's extension (kernel/operator/direct.cpp): what it does itself, what it leaves to Python, how it is compiled."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from torch import Tensor

from benchmarks.operator import cases
from benchmarks.operator.stand_in import CPU, STREAM, StandIn
from kernel import op
from kernel.operator import direct
from kernel.operator.builds import library_for
from kernel.runtime import tables
from kernel.runtime.library import LaunchError, UnknownConfig

COMPILER = """#!/bin/sh
test "$1" = --version && { echo "compiler $VERSION"; exit 0; }
echo run >> "$RUNS"
sleep 1
test -z "$COMPLAINT" || { echo "$COMPLAINT" >&2; exit 1; }
while test "$1" != -o; do shift; done
echo made > "$2"
"""

TOGETHER = """
import os, time
from pathlib import Path
from kernel.operator import direct
meeting = Path({meeting!r})
(meeting / f"{{os.getpid()}}.here").touch()
while len(list(meeting.glob("*.here"))) < 2:
    time.sleep(0.01)
print(direct.kept(Path({source!r})))
"""


def why_no_extension() -> str:
    try:
        direct.command()
    except direct.NoExtension as reason:
        return str(reason)
    return ""


needs_compiler = pytest.mark.skipif(bool(why_no_extension()), reason=why_no_extension() or "it is here")


@pytest.fixture(scope="module")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> StandIn:
    return StandIn(tmp_path_factory.mktemp("stand_in"))


@pytest.fixture(autouse=True)
def _anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(tables.choose, "__defaults__", (tmp_path,))  # the stand-in has no config that sm_90's tables name
    tables.tables_for.cache_clear()
    library_for.cache_clear()
    direct.extension.cache_clear()
    yield
    direct.extension.cache_clear()


@pytest.fixture
def runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A compiler that is none, an empty cache, and the file in which each run of that compiler is a line."""
    compiler, log = tmp_path / "compiler", tmp_path / "runs"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    log.touch()
    for name, value in {"CXX": compiler, "RUNS": log, "VERSION": "1", "XDG_CACHE_HOME": tmp_path / "cache"}.items():
        monkeypatch.setenv(name, str(value))
    return log


def operands() -> tuple[Tensor, Tensor, Tensor]:
    return torch.ones(4, 16).half(), op.prepack(torch.ones(16, 8).to(torch.float8_e5m2)), torch.ones(8).half()


@needs_compiler
def test_every_product_is_right_past_python(stand_in: StandIn) -> None:
    with stand_in.runs_for_the_cpu():
        configs = library_for("sm_90").configs
        every = [case for case in cases.all_cases("cpu", configs) if case.m * case.n * case.k < 1 << 20]
        wrong = {case.name: failure for case in every if (failure := cases.check(case, CPU, cases.past_python).failure)}
    assert not wrong
    assert len(every) > 50


@needs_compiler
def test_the_operator_goes_past_python_from_the_second_call_on(stand_in: StandIn) -> None:
    a, packed, bias = operands()
    with stand_in.runs_for_the_cpu(ordinal=3) as launch:
        assert direct.call(a, packed, 1.0, bias, None) is None
        op.scaled_mm(a, packed, 1.0, bias)
        by_python, of_the_extension = op.scaled_mm(a, packed, 1, bias), op.scaled_mm(a, packed, 1.0, bias)
        assert torch.equal(by_python, of_the_extension)
        assert stand_in.stream == STREAM + 3
        assert direct.call(a, packed, 1.0, bias, None) is not None
        assert direct.call(a, packed.view(torch.uint8), 1.0, bias, 1) is not None
        direct.forget()
        assert direct.call(a, packed, 1.0, bias, None) is None
        assert torch.equal(op.scaled_mm(a, packed, 1.0, bias), by_python)
        launch(1, a, packed, 1.0, None, by_python, 4, 8, 16)
    assert direct.call(a, packed, 1.0, bias, None) is None


@needs_compiler
def test_what_python_would_refuse_or_torch_intercept_is_left_to_them(stand_in: StandIn) -> None:
    a, packed, bias = operands()
    raw = packed.view(torch.uint8)
    wide, requires = torch.ones(4, 32).half(), a.clone().requires_grad_()
    left = {
        "another shape": (wide[:, :16].contiguous()[:3], packed, 1.0, bias, None),
        "strides": (wide[:, ::2], packed, 1.0, bias, None),
        "dtype of a": (a.bfloat16(), packed, 1.0, bias, None),
        "dtype of b": (a, raw, 1.0, bias, None),
        "other format": (a, raw, 1.0, bias, 0),
        "format given twice": (a, packed, 1.0, bias, 1),
        "no format": (a, raw, 1.0, bias, 2**80),
        "pieces": (a, packed.repeat(2, 1, 1), 1.0, bias, None),
        "scale": (a, packed, torch.tensor(1.0), bias, None),
        "bias shape": (a, packed, 1.0, bias[:7], None),
        "bias dtype": (a, packed, 1.0, bias.float(), None),
        "bias strides": (a, packed, 1.0, torch.ones(16).half()[::2], None),
        "bias device": (a, packed, 1.0, bias.to("meta"), None),
        "device": (a.to("meta"), packed.to("meta"), 1.0, None, None),
        "gradient": (requires, packed, 1.0, bias, None),
        "no tensor": (None, packed, 1.0, bias, None),
        "subclass": (a.as_subclass(type("Mine", (Tensor,), {})), packed, 1.0, bias, None),
    }
    with stand_in.runs_for_the_cpu():
        op.scaled_mm(a, packed, 1.0, bias)
        taken = {why for why, given in left.items() if direct.call(*given) is not None}  # type: ignore[arg-type]
        assert not taken
        with pytest.raises(NotImplementedError, match="no gradient"):
            op.scaled_mm(requires, packed, 1.0, bias)
        with torch.no_grad():
            assert direct.call(requires, packed, 1.0, bias, None) is not None
        with torch.inference_mode():
            assert direct.call(a, packed, 1.0, bias, None) is not None
        with torch._subclasses.FakeTensorMode() as mode:
            assert direct.call(a, packed, 1.0, bias, None) is None
            assert op.scaled_mm(mode.from_tensor(a), mode.from_tensor(packed), 1.0).shape == (4, 8)
        batch = torch.stack([a, -a])
        assert torch.equal(
            torch.vmap(lambda each: op.scaled_mm(each, packed, 1.0, bias))(batch)[1], torch.full((4, 8), -15).half()
        )


@needs_compiler
@pytest.mark.filterwarnings("ignore:.*torch.jit:DeprecationWarning")  # torch's own
def test_torch_compiles_the_operator_whole_whoever_launches(stand_in: StandIn) -> None:
    a, packed, bias = operands()
    layer = torch.compile(lambda a: op.scaled_mm(a * 2, packed, 1.0, bias) + 1, fullgraph=True, backend="aot_eager")
    with stand_in.runs_for_the_cpu():
        assert [(layer(a) == 34).all().item() for _ in range(3)] == [True] * 3


@needs_compiler
def test_a_forced_config_is_obeyed_and_not_remembered(stand_in: StandIn, monkeypatch: pytest.MonkeyPatch) -> None:
    a, packed, _ = operands()
    with stand_in.runs_for_the_cpu():
        configs = library_for("sm_90").configs
        monkeypatch.setenv("HIP_FORCE_CONFIG", "1,8,2,2,8,2")
        op.scaled_mm(a, packed, 1.0)
        assert direct.call(a, packed, 1.0, None, None) is None
        monkeypatch.delenv("HIP_FORCE_CONFIG")
        op.scaled_mm(a, packed, 1.0)
        chosen = stand_in.config
        monkeypatch.setenv("HIP_FORCE_CONFIG", "1,8,2,2,8,2")
        assert direct.call(a, packed, 1.0, None, None) is not None
        assert (configs[stand_in.config], configs[chosen]) == ((1, 8, 2, 2, 8, 2), (1, 2, 4, 2, 2, 2))
        monkeypatch.setenv("HIP_FORCE_CONFIG", "9,9,9,9,9,9")
        with pytest.raises(UnknownConfig, match="HIP_FORCE_CONFIG is not a config of this build"):
            op.scaled_mm(a, packed, 1.0)


@needs_compiler
def test_a_launch_that_fails_is_explained_by_python(stand_in: StandIn) -> None:
    a, packed, _ = operands()
    with stand_in.runs_for_the_cpu():
        op.scaled_mm(a, packed, 1.0)
        stand_in.fail(6)
        with pytest.raises(LaunchError, match=r"error 6: .*this is a stand-in"):
            op.scaled_mm(a, packed, 1.0)
        stand_in.fail(0)
        assert direct.call(a, packed, 1.0, None, None) is not None


def test_without_a_compiler_or_by_wish_python_does_all(
    stand_in: StandIn, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    a, packed, _ = operands()
    monkeypatch.setenv(direct.VARIABLE, "python")
    assert direct.path() == "Python: EXPCTL_OPERATOR_CALLS is python"
    monkeypatch.delenv(direct.VARIABLE)
    direct.extension.cache_clear()
    with stand_in.runs_for_the_cpu():
        monkeypatch.setenv("PATH", str(tmp_path))
        monkeypatch.delenv("CXX", raising=False)
        assert all((op.scaled_mm(a, packed, 1.0) == 16).all() for _ in range(2))
        assert direct.call(a, packed, 1.0, None, None) is None
        assert direct.path() == "Python: no C++ compiler is on PATH"


def test_what_the_compiler_refused_is_said_once_and_not_tried_again(
    stand_in: StandIn, runs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, packed, _ = operands()
    monkeypatch.setenv("COMPLAINT", "error: no such header")
    monkeypatch.delenv("XDG_CACHE_HOME")  # the stand-in needs builds that are kept
    with stand_in.runs_for_the_cpu():
        monkeypatch.setenv("XDG_CACHE_HOME", str(runs.parent / "cache"))
        with pytest.warns(UserWarning, match=r"(?s)through Python.*direct.cpp was not compiled; delete .* no such header"):
            assert (op.scaled_mm(a, packed, 1.0) == 16).all()
        assert (op.scaled_mm(a, packed, 1.0) == 16).all()
        direct.extension.cache_clear()
        with warnings.catch_warnings(record=True, action="always") as told:
            assert direct.path().startswith("Python: direct.cpp was not compiled")
    assert len(told) == 1
    assert runs.read_text() == "run\n"


def test_one_of_two_processes_compiles_and_a_change_compiles_anew(
    runs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "direct.cpp"
    source.write_text("// one")
    script = TOGETHER.format(source=str(source), meeting=str(tmp_path))
    both = [subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) for _ in range(2)]
    paths = {process.communicate()[0].strip() for process in both}
    first = direct.kept(source)
    assert paths == {str(first)}
    assert runs.read_text() == "run\n"
    source.write_text("// two")
    second = direct.kept(source)
    monkeypatch.setattr(torch, "__version__", f"{torch.__version__}.1")
    third = direct.kept(source)
    monkeypatch.setenv("VERSION", "2")
    assert len({first, second, third, direct.kept(source)}) == 4
    assert runs.read_text() == "run\n" * 4


def test_a_file_that_is_no_extension_is_said(runs: Path) -> None:
    with pytest.warns(UserWarning, match=r"direct.so can't be loaded; delete its folder to compile it again"):
        assert direct.path().startswith("Python: ")
    assert runs.read_text() == "run\n"


def test_an_import_compiles_nothing(runs: Path) -> None:
    subprocess.run([sys.executable, "-c", "import kernel.op"], check=True, env={**os.environ})
    assert not runs.read_text()
    assert not (runs.parent / "cache").exists()
