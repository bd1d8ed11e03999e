"""The example of a model's ladder: its files are valid, its patches apply, and each version still is the same model."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from expctl.adapters.codec.record_codec import profile_bytes, record_bytes
from expctl.adapters.doctor.work_tree import protocol_of_work_tree
from expctl.adapters.records.proposal_file import proposal_of
from expctl.adapters.steps.options_file import options_of
from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.domain.experiment.record import Estimate, Fact, Origin, Record, Times
from expctl.domain.patch.policy import patch_faults
from expctl.domain.protocol.model import NumberKind

EXAMPLE = Path(__file__).parents[2] / "examples" / "inference"
PROPOSALS = sorted((EXAMPLE / "experiments").glob("P*"), key=lambda each: int(each.name[1:]))
IDS = [each.name for each in PROPOSALS]
LOSES, BREAKS, COARSE, GRAPHS, ON_A_GPU = "P12", "P11", "P13", "P9", "P14"


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
    changed = subprocess.run(
        ["git", "diff", "--cached", "--name-only"], cwd=tree, capture_output=True, text=True
    ).stdout.split()
    assert len(changed) == 1
    assert set(changed) <= set(protocol_of_work_tree(EXAMPLE).scope)
    compile((tree / "model.py").read_text(), "model.py", "exec")
    rule = protocol_of_work_tree(EXAMPLE).options
    assert rule is not None
    options_of((tree / "options.yaml").read_bytes(), rule)


def test_all_rungs_merge_whichever_are_kept(tree: Path) -> None:
    for id in IDS:
        if id not in (LOSES, GRAPHS):  # P14 is the other way to capture graphs
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


@pytest.mark.parametrize("gpu", [False, True])
def test_a_start_is_a_repository_with_all_that_this_machine_can_run(
    tmp_path: Path, gpu: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    ladder = loaded(EXAMPLE / "ladder.py", "example_ladder")
    monkeypatch.setattr(ladder, "has_gpu", lambda: gpu)
    ladder.start(tmp_path / "example")
    queued = {each.name for each in (tmp_path / "example" / "experiments").iterdir()}
    assert queued == {id for id in IDS if gpu or id not in (GRAPHS, ON_A_GPU)}
    files = {file.name for each in (tmp_path / "example" / "experiments").iterdir() for file in each.iterdir()}
    assert files == {"experiment.yaml", "change.patch"}
    found = subprocess.run(["git", "status", "--porcelain"], cwd=tmp_path / "example", capture_output=True, text=True)
    assert (found.returncode, found.stdout) == (0, "")


def test_the_page_says_what_the_records_say(tmp_path: Path) -> None:
    closing_page = loaded(EXAMPLE / "closing_page.py", "example_page")
    assert "No experiment has a record yet" in closing_page.page(copied(tmp_path / "empty"))
    folder = copied(tmp_path / "run")
    shares = [{"GEMM": 80.0, "elementwise": 20.0}, {"GEMM": 95.5, "attention": 4.5}]
    kept(folder, "P4", effect=35.5, shares=shares)
    (folder / "experiments" / "P11" / "record.json").write_bytes(record_bytes(record("P11", Verdict.REJECT, "graph_breaks 8")))
    assert closing_page.page(folder).splitlines()[:21] == [
        "## The ladder",
        "",
        "| rung | what | gain of the weighted mean, % | 95 % interval | target |",
        "|---|---|--:|---|---|",
        "| P4 | title of P4 | +35.50 | +30.25 to +41.00 | cpu |",
        "",
        "## Latency",
        "",
        "Before P4 and after P4, in ms.",
        "",
        "| size | p50 before | p50 after | p99 before | p99 after |",
        "|---|--:|--:|--:|--:|",
        "| decode batch=1 | 2.000 | 1.000 | 3.000 | 1.250 |",
        "",
        "## Where the time goes",
        "",
        "Percent of the time of all operators, by class.",
        "",
        "| class | P4 before | P4 after |",
        "|---|--:|--:|",
        "| GEMM | 80.0 | 95.5 |",
    ]
    assert "- P11, title of P11: REJECT, graph_breaks 8" in closing_page.page(folder)
    assert "- P9, Level 2: one graph of device work for each size" in closing_page.page(folder)


def copied(folder: Path) -> Path:
    for each in PROPOSALS:
        (folder / "experiments" / each.name).mkdir(parents=True)
        shutil.copy(each / "experiment.yaml", folder / "experiments" / each.name)
    return folder


def record(id: str, verdict: Verdict, reason: str, estimates: tuple[Estimate, ...] = ()) -> Record:
    return Record(
        id=id,
        title=f"title of {id}",
        kind=Kind.PERF,
        origin=Origin.MEASURED,
        target="cpu",
        verdict=verdict,
        reasons=(reason,),
        estimates=estimates,
        date="2026-11-26T10:00:00Z",
    )


def kept(folder: Path, id: str, *, effect: float, shares: list[dict[str, float]]) -> None:
    common: dict[str, Any] = {
        "effect_percent": effect,
        "low_percent": 30.25,
        "high_percent": 41.0,
        "sd_percent": 1.0,
        "rounds": 9,
    }
    size = Estimate(
        size="decode batch=1",
        baseline_ns=2e6,
        candidate_ns=1e6,
        baseline_times=Times(mean_ns=2e6, p90=1.1, p99=1.5),
        candidate_times=Times(mean_ns=1e6, p90=1.1, p99=1.25),
        **common,
    )
    estimates = (Estimate(size="objective", **common), size)
    facts = {
        side: [
            Fact(name=f"share of {name}", value=value, unit="%", kind=NumberKind.DEVICE_TIME) for name, value in each.items()
        ]
        for side, each in zip(("baseline", "candidate"), shares, strict=True)
    }
    (folder / "experiments" / id / "record.json").write_bytes(record_bytes(record(id, Verdict.KEEP, "gain", estimates)))
    (folder / "experiments" / id / "profile.json").write_bytes(profile_bytes(facts))


def test_its_test_step_says_one_end_with_all_guards(tree: Path) -> None:
    pytest.importorskip("torch", reason="torch (extra `torch`) is not installed")
    shutil.copytree(EXAMPLE / "bench", tree / "bench")
    reading, writing = os.pipe()
    ran = subprocess.run(
        [sys.executable, "bench/cpu.py", "model.py", "--test"],
        cwd=tree,
        env={**os.environ, "EXPCTL_RESULT_FD": str(writing), "OMP_NUM_THREADS": "1"},
        input=b'{"do":"test","nonce":"n"}\n',
        capture_output=True,
        pass_fds=[writing],
    )
    os.close(writing)
    with os.fdopen(reading) as said:
        events = [json.loads(line) for line in said]
    assert [each["ok"] for each in events if each["event"] == "end"] == [True], ran.stderr[-900:]
    assert events[-1]["nonce"] == "n"
    (metrics,) = [each["facts"] for each in events if "logit_error" in each.get("facts", {})]
    assert metrics.keys() == {"graph_breaks", "recompilations", "logit_error", "peak_memory_mib"}
