"""What torch says of itself, and where a program leaves its graph: by a stand-in for a torch of ROCm, and by the torch here."""

import sys
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path

import pytest

from expctl.adapters.doctor.torch_answers import graph_breaks, torch_facts
from expctl.domain.environment.snapshot import GraphBreak
from expctl.domain.environment.torch_settings import STOCK

needs_torch = pytest.mark.skipif(find_spec("torch") is None, reason="torch is not installed")
TORCH = {
    "torch/__init__.py": """import os
from torch import cuda, version
def get_float32_matmul_precision():
    return os.environ.get("FAKE_PRECISION", "highest")
""",
    "torch/version.py": "hip = '7.2.26015'\n",
    "torch/cuda/__init__.py": "def is_available():\n    return True\n",
    "torch/cuda/tunable.py": "def get_validators():\n    return (('PT_VERSION', '2.9.1'), ('HIPBLASLT_VERSION', '100202-d'))\n",
    "torch/_inductor/__init__.py": "",
    "torch/_inductor/config.py": """max_autotune = True
class rocm:
    ck_supported_arch = ["gfx90a", "gfx942"]
class triton:
    cudagraphs = False
""",
}
# What torch 2.13 and torch 2.5 log with TORCH_LOGS=graph_breaks, without the prefix of each line.
LINES = (
    "Graph break in user code at /srv/run.py:5",
    "Graph Break Reason: Encountered graph break when attempting to trace CALL: a function call, e.g. f(x, y):",
    "",
    "Failed to trace builtin operator",
    "  Explanation: Dynamo does not know how to trace builtin operator `print`",
    "User code traceback:",
    '  File "/srv/run.py", line 9, in <module>',
)
OLD_LINES = ("Graph break in user code at /srv/run.py:7", "Reason: Unsupported: Tensor.item", "User code traceback:")
PREFIX = "V1124 02:49:28.822000 29474 torch/_dynamo/symbolic_convert.py:5124] [0/0] [__graph_breaks] "
LOG = "".join(f"{PREFIX}{line}\n" for line in LINES) + "what the program prints\n"
OLD_LOG = "".join(f"{PREFIX}{line}\n" for line in OLD_LINES)


@pytest.fixture
def fake(tmp_path: Path) -> dict[str, str]:
    """Variables with which a Python finds a torch that was built for ROCm."""
    lay(tmp_path, TORCH)
    return {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(tmp_path)}


def lay(root: Path, files: Mapping[str, str]) -> None:
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def test_torch_says_what_it_is(fake: dict[str, str], tmp_path: Path) -> None:
    found = torch_facts(sys.executable, {**fake, "FAKE_PRECISION": "high"}, (), tmp_path)
    assert (found.precision, found.ck_archs, found.breaks, found.trouble) == ("high", ("gfx90a", "gfx942"), None, "")
    assert found.inductor == {"max_autotune": "True", "triton.cudagraphs": "False"}  # what this torch knows of STOCK
    assert found.validators == {"PT_VERSION": "2.9.1", "HIPBLASLT_VERSION": "100202-d"}


def test_a_torch_that_is_broken_is_told(fake: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "torch/version.py").write_text("import libamdhip64_missing\n")
    found = torch_facts(sys.executable, fake, (), tmp_path)
    assert found.trouble == "torch does not answer: ModuleNotFoundError: No module named 'libamdhip64_missing'"
    assert torch_facts("/no/python", fake, (), tmp_path).trouble


def test_a_program_is_run_and_its_breaks_are_read(fake: dict[str, str], tmp_path: Path) -> None:
    script = f"import os, sys\nassert os.environ['TORCH_LOGS'] == 'graph_breaks'\nsys.stderr.write({LOG + LOG!r})\n"
    lay(tmp_path, {"run.py": script, "bad.py": "import sys\nsys.exit('no GPU')\n"})
    found = torch_facts(sys.executable, fake, ("run.py", "a b"), tmp_path)
    assert found.breaks == (GraphBreak(place="/srv/run.py:5", reason="Failed to trace builtin operator"),)
    assert found.script == "run.py 'a b'"
    failed = torch_facts(sys.executable, fake, ("bad.py",), tmp_path)
    assert (failed.trouble, failed.breaks, failed.precision) == ("bad.py ended with status 1: no GPU", None, "highest")


@pytest.mark.parametrize(
    ("log", "breaks"),
    [
        (LOG, [("/srv/run.py:5", "Failed to trace builtin operator")]),
        (OLD_LOG, [("/srv/run.py:7", "Unsupported: Tensor.item")]),
        (
            OLD_LOG + LOG,
            [("/srv/run.py:7", "Unsupported: Tensor.item"), ("/srv/run.py:5", "Failed to trace builtin operator")],
        ),
        (LOG.splitlines()[0], [("/srv/run.py:5", "no reason given")]),
        ("a warning\n", []),
    ],
    ids=["2.13", "2.5", "both", "cut off", "none"],
)
def test_the_log_of_torch(log: str, breaks: list[tuple[str, str]]) -> None:
    assert [(each.place, each.reason) for each in graph_breaks(log)] == breaks


BREAKS = """import torch
@torch.compile(backend="eager")
def f(x):
    y = x * 2
    print("a line")
    return y + 1
f(torch.ones(4))
"""


@needs_torch
def test_the_torch_that_is_here(tmp_path: Path) -> None:
    lay(tmp_path, {"breaks.py": BREAKS, "whole.py": BREAKS.replace('    print("a line")\n', "")})
    variables = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    found = torch_facts(sys.executable, variables, ("breaks.py",), tmp_path)
    assert found.trouble == ""
    assert [each.place.rpartition("/")[2] for each in found.breaks or ()] == ["breaks.py:5"]
    assert found.inductor == STOCK, "torch ships other settings than the table says"
    assert (found.precision, found.validators) == ("highest", {})
    assert torch_facts(sys.executable, variables, ("whole.py",), tmp_path).breaks == ()


@needs_torch
def test_a_setting_that_a_site_module_changed_is_seen(tmp_path: Path) -> None:
    lay(tmp_path, {"sitecustomize.py": "import torch._inductor.config as config\nconfig.max_autotune = True\n"})
    found = torch_facts(
        sys.executable, {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(tmp_path)}, (), tmp_path
    )
    assert found.inductor["max_autotune"] == "True"
