"""The example of a model's ladder: its files are valid, its patches apply, and each version still is the same model."""

import importlib.util
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from expctl.adapters.doctor.work_tree import protocol_of_work_tree
from expctl.adapters.records.proposal_file import proposal_of
from expctl.adapters.steps.options_file import options_of
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.patch.policy import patch_faults

EXAMPLE = Path(__file__).parents[2] / "examples" / "inference"
PROPOSALS = sorted((EXAMPLE / "experiments").glob("P*"), key=lambda each: int(each.name[1:]))
IDS = [each.name for each in PROPOSALS]
LOSES, BREAKS, COARSE, GRAPHS = "P12", "P11", "P13", "P9"


def proposal(id: str) -> Any:
    return proposal_of((EXAMPLE / "experiments" / id / "experiment.yaml").read_bytes(), f"experiments/{id}")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    folder = tmp_path / "tree"
    folder.mkdir()
    for name in ("model.py", "options.yaml"):
        shutil.copy(EXAMPLE / name, folder)
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message", "first")
    return folder


def git(folder: Path, *words: str) -> None:
    author = ("-c", "user.name=a", "-c", "user.email=a@localhost")
    found = subprocess.run(["git", *author, *words], cwd=folder, capture_output=True, text=True)
    assert found.returncode == 0, found.stderr


def apply(tree: Path, id: str) -> None:
    git(tree, "apply", "--3way", "--index", str(EXAMPLE / "experiments" / id / "change.patch"))


def test_the_protocol_is_valid_and_has_its_guards() -> None:
    protocol = protocol_of_work_tree(EXAMPLE)
    for target in protocol.targets.values():
        assert target.test is not None
        assert target.test.metrics is not None
        assert set(target.test.metrics.most) == {"graph_breaks", "recompilations", "logit_error", "peak_memory_mib"}
        assert target.benchmark is not None
        assert target.profile is not None
        assert min(step.timeout_s for step in (target.test, target.benchmark, target.profile)) >= 600  # a first compilation


def test_there_are_at_least_ten_proposals_which_say_what_they_expect() -> None:
    assert len(PROPOSALS) >= 10
    protocol = protocol_of_work_tree(EXAMPLE)
    for id in IDS:
        assert proposal(id).prediction.gain_percent is not None
        assert not patch_faults((EXAMPLE / "experiments" / id / "change.patch").read_bytes(), protocol.patch)
    assert {id for id in (BREAKS, COARSE, LOSES) if proposal(id).prediction.verdict is Verdict.REJECT} == {"P11", "P12", "P13"}


@pytest.mark.parametrize("id", IDS)
def test_a_patch_applies_to_the_first_version_and_stays_in_scope(tree: Path, id: str) -> None:
    apply(tree, id)
    changed = subprocess.run(["git", "diff", "--cached", "--name-only"], cwd=tree, capture_output=True, text=True).stdout.split()
    assert len(changed) == 1
    assert set(changed) <= set(protocol_of_work_tree(EXAMPLE).scope)
    compile((tree / "model.py").read_text(), "model.py", "exec")
    rule = protocol_of_work_tree(EXAMPLE).options
    assert rule is not None
    options_of((tree / "options.yaml").read_bytes(), rule)


def test_all_rungs_merge_whichever_are_kept(tree: Path) -> None:
    for id in IDS:
        if id != LOSES:
            apply(tree, id)
            git(tree, "commit", "--quiet", "--message", id)
    compile((tree / "model.py").read_text(), "model.py", "exec")


def loaded(file: Path, name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("id", ["", *(id for id in IDS if id != GRAPHS)])
def test_each_version_gives_the_logits_of_the_reference(tree: Path, id: str, monkeypatch: pytest.MonkeyPatch) -> None:
    torch = pytest.importorskip("torch")
    monkeypatch.setattr(torch, "compile", lambda model, **_: model)  # the short suite compiles nothing
    if id:
        apply(tree, id)
    weights = loaded(EXAMPLE / "bench" / "weights.py", "example_weights")
    reference = loaded(EXAMPLE / "bench" / "reference.py", "example_reference")
    model = loaded(tree / "model.py", "example_model")
    precision, grads = torch.get_float32_matmul_precision(), torch.is_grad_enabled()
    shape = weights.Shape(vocabulary=64, width=32, layers=2, heads=4, kv_heads=2, hidden=48, positions=16)
    given = weights.random_weights(shape)
    try:
        run = model.load(shape, given, "cpu")
        for batch, length, start in ((1, 7, 0), (3, 4, 0), (2, 1, 9), (2, 3, 5)):
            generator = torch.Generator().manual_seed(batch)
            tokens = torch.randint(0, shape.vocabulary, (batch, length), generator=generator)
            cache = torch.randn(2, 2, batch, 2, 16, 8, generator=generator)
            exact = reference.logits(
                shape, {name: each.double() for name, each in given.items()}, tokens, cache.double(), start
            )
            found = run(tokens, cache, start)
            limit = 5e-2 if id == COARSE else 1e-4
            assert found.shape == exact.shape
            assert (found - exact).abs().max() < limit * exact.abs().max()
    finally:
        torch.set_float32_matmul_precision(precision)
        torch.set_grad_enabled(grads)
        if id == "P10":
            from torch._inductor import config

            config.freezing = False
