"""`expctl init --kind triton` without a GPU: Triton's interpreter runs the sample, in the .venv of a repository."""

import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign
from tests.e2e.set_up.test_init import empty, quiet  # noqa: F401  a fixture

TRITON = "triton==3.6.0"  # 190 MB
UV = Path(sys.executable).with_name("uv")
SLOWLY = "    for each in range(64):\n        values = tl.maximum(values, tl.max(values, axis=0) - 1e30 - each)\n"
pytestmark = pytest.mark.long


@pytest.fixture
def repository(empty: Foreign) -> Foreign:  # noqa: F811
    """A repository whose .venv has Triton, and torch from where the tests have it."""
    pytest.importorskip("torch", reason="torch is not installed")
    if not UV.exists():
        pytest.skip("uv is not installed: pip install -e '.[test]'")
    python = empty.root / ".venv/bin/python"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", empty.root / ".venv"], check=True)
    subprocess.run([UV, "pip", "install", "--quiet", "--no-deps", "--python", python, TRITON], check=True)
    (site,) = empty.root.glob(".venv/lib/python*/site-packages")
    (site / "shared.pth").write_text(sysconfig.get_path("purelib"))
    empty.write(".gitignore", ".venv\n")
    return empty


def test_the_sample_passes_and_its_experiments_get_their_verdicts(repository: Foreign) -> None:
    repository.concluded("init", "--kind", "triton")
    assert 'TRITON_INTERPRET: "1"' in (repository.root / "protocol.yaml").read_text()
    checked = repository.expctl("harness", "check")
    assert checked.status == 0, checked
    quiet(repository)
    repository.commit("expctl")
    source = repository.root / "src/softmax.py"
    text = source.read_text()
    for experiment, before, after, verdict, because in (
        ("P1", "    powers =", "    # of e\n    powers =", "NO-OP", "nothing was timed"),
        ("P2", "axis=0), at", "axis=0) * 2, at", "REJECT", "elements are bad; nothing was timed"),
        ("P3", "    powers =", SLOWLY + "    powers =", "REJECT", "regress"),
    ):
        changed = text.replace(before, after, 1)
        assert changed != text
        source.write_text(changed)
        repository.concluded("new", experiment, "--from-diff")
        said = repository.expctl("run", experiment)
        assert f"  {verdict} " in said.out, said
        assert because in said.out
