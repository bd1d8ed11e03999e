"""`expctl new --from`: proposals that are ready but for, sometimes, the change."""

import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.e2e.foreign import FASTER, Foreign

ROOT = Path(__file__).parents[3]
OPTIONS = 'options:\n  file: src/options.yaml\n  variables: ["GPU_*", "HIP_*", "HSA_*", AMD_LOG_LEVEL]\n'


def proposal(repository: Foreign) -> Any:
    return yaml.safe_load((repository.root / "experiments/P1/experiment.yaml").read_text())


def test_an_ablation_of_the_kernel_is_queued_as_an_analysis(tmp_path: Path) -> None:
    (tmp_path / "repository").mkdir()
    for folder in ("kernel", "expctl/harness", "expctl/tables"):
        shutil.copytree(ROOT / folder, tmp_path / "repository" / folder, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "protocol.yaml", tmp_path / "repository")
    for beside in ("home", "locks"):
        (tmp_path / beside).mkdir()
    home = Foreign.at(tmp_path / "repository")
    home.git("init", "-q", "-b", "main")
    home.commit("baseline")
    answer = home.concluded("new", "--from", "no-decode")
    assert "changes    kernel/hip/fragment_gfx11.h" in answer.out
    found = proposal(home)
    assert (found["kind"], found["prediction"]) == ("analysis", {"verdict": "KEEP"})
    assert "Bounds: From above, what the upcast" in found["hypothesis"]
    assert "Does not prove: That B as fp16" in found["hypothesis"]


def test_a_rung_of_variables_becomes_options(repository: Foreign) -> None:
    repository.write("protocol.yaml", (repository.root / "protocol.yaml").read_text() + OPTIONS)
    repository.commit("options")
    repository.concluded("new", "--from", "1-environment", "--title", "The runtime's variables")
    found = proposal(repository)
    assert (found["kind"], found["title"]) == ("config", "The runtime's variables")
    assert '+  HIP_FORCE_DEV_KERNARG: "1"' in (repository.root / "experiments/P1/change.patch").read_text()


def test_a_rung_in_code_takes_the_users_change(repository: Foreign) -> None:
    repository.write("src/total.py", FASTER)
    repository.concluded("new", "--from", "3-qkv-fusion", "--from-diff")
    assert proposal(repository)["title"] == "Level 3: one product for Q, K and V"


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--from", "2-compile"), "playbook-needs-change"),
        (("--from", "no-decode", "--from-diff"), "playbook-has-change"),
        (("--from", "1-environment", "--env", "A=1"), "playbook-has-change"),
        (("--from", "no-such"), "no-such-playbook"),
        (("--from", "no-decode"), "patch-"),  # a kernel of another repository
    ],
)
def test_what_does_not_fit_is_refused(repository: Foreign, words: tuple[str, ...], code: str) -> None:
    before = repository.git("rev-parse", "HEAD")
    answer = repository.expctl("new", *words)
    assert answer.status != 0
    assert f"[{code}" in answer.err
    assert repository.git("rev-parse", "HEAD") == before


def test_the_list_says_of_each_what_it_does_not_prove(repository: Foreign) -> None:
    said = repository.concluded("new", "--playbooks").out
    assert said.count("  not proven ") == said.count("  bounds     ") == said.count("  change     ") > 15
