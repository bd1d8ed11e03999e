"""The control patches of our own protocol fit the kernel as it is."""

import subprocess
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]
TARGETS = yaml.safe_load((ROOT / "protocol.yaml").read_text())["targets"]
CONTROLS = {name: target["benchmark"]["control"]["patch"] for name, target in TARGETS.items() if "benchmark" in target}


def test_every_target_that_is_timed_has_a_control() -> None:
    assert sorted(CONTROLS) == ["cpu", "gfx1151", "sm_90", "sm_90-rows"]


@pytest.mark.parametrize("patch", sorted(set(CONTROLS.values())))
def test_it_applies(patch: str) -> None:
    """Make it again where this fails: the kernel has changed around the call that it lengthens."""
    done = subprocess.run(["git", "apply", "--check", patch], cwd=ROOT, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
