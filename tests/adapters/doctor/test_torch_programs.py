"""Which steps use torch, by the text of their scripts and of what these import."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from expctl.adapters.doctor.torch_programs import Programs, torch_programs
from expctl.domain.environment.snapshot import CompiledStep
from expctl.domain.protocol.model import Benchmark, Build, Protocol, Size, Target, Toolchain
from expctl.domain.protocol.step import LimitedStep

TARGET = Target(
    build=Build(toolchain=Toolchain.COMMAND, argv=("true",)),
    test=LimitedStep(argv=("{python}", "bench/test.py"), timeout_s=30.0),
    benchmark=Benchmark(
        argv=("{python}", "-u", "bench/run.py", "--n", "8"), timeout_s=120.0, sizes=(Size(name="n", weight=1.0),)
    ),
)
PROTOCOL = Protocol(version=1, name="x", scope=("src",), harness=("bench",), decides=("here",), targets={"here": TARGET})
BENCHMARK = CompiledStep(target="here", step="benchmark", script="bench/run.py", timeout_s=120.0)


def found(root: Path, files: Mapping[str, str]) -> Programs:
    for name, text in {"bench/test.py": "", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return torch_programs(PROTOCOL, root)


@pytest.mark.parametrize(
    ("files", "programs"),
    [
        ({}, Programs()),
        ({"bench/run.py": "import numpy\n# import torch, then torch.compile(f)\n"}, Programs()),
        ({"bench/run.py": "import torch\n"}, Programs(uses_torch=True)),
        ({"bench/run.py": "def late():\n    from torch import nn\n"}, Programs(uses_torch=True)),
        ({"bench/run.py": "import torch\nf = torch.compile(g)\n"}, Programs(uses_torch=True, compiled=(BENCHMARK,))),
        (
            {"bench/run.py": "import model\n", "bench/model.py": "import torch\ntorch.set_float32_matmul_precision('high')\n"},
            Programs(uses_torch=True, sets_precision=True),
        ),
        (
            {
                "bench/run.py": "from src import deep\n",
                "src/deep.py": "from src.deeper import f\n",
                "src/deeper.py": "@torch.compile\n",
            },
            Programs(compiled=(BENCHMARK,)),
        ),
        ({"bench/run.py": "from expctl.harness import serve\n", "expctl/harness.py": "import torch\n"}, Programs()),
    ],
    ids=["no script", "no torch", "torch", "inside", "compiled", "by a neighbour", "two modules away", "our library"],
)
def test_what_steps_do_with_torch(files: Mapping[str, str], programs: Programs, tmp_path: Path) -> None:
    assert found(tmp_path, files) == programs


def test_modules_that_import_each_other_end(tmp_path: Path) -> None:
    circle = {"bench/run.py": "import a", "bench/a.py": "import b, run", "bench/b.py": "import a as c\nimport torch\n"}
    assert found(tmp_path, circle) == Programs(uses_torch=True)
