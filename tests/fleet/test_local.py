"""A fleet whose engine is threads: everything but Ray is the real thing, in processes of its own."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from io import StringIO
from pathlib import Path
from unittest.mock import patch

from expctl import wiring, wiring_fleet
from expctl.adapters.git.reader import locate
from expctl.flow.autopilot.steps import Ended
from expctl.flow.fleet.head import FleetStep
from expctl.views.console import ConsoleProgress
from tests.fleet.knobs import Knobs
from tests.fleet.local_engine import LocalEngine


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    with patch.dict(os.environ, variables):
        yield


def run(
    knobs: Knobs,
    engine: LocalEngine,
    *,
    after: Callable[[FleetStep], None] = lambda _: None,
    silent_s: float = 30,
    confirms: bool = False,
) -> tuple[list[FleetStep], str]:
    said = StringIO()
    steps: list[FleetStep] = []
    with environment(knobs.repository.environment):
        place = locate(knobs.repository.root)
        made = wiring.context(place, ConsoleProgress(said))
        for step in wiring_fleet.head_steps(
            place, made, engine, target="", silent_s=silent_s, spent=lambda *_: "", confirms=confirms
        ):
            steps.append(step)
            after(step)
    return steps, said.getvalue()


def test_three_devices_judge_side_by_side_and_the_head_lands(tmp_path: Path) -> None:
    knobs = Knobs(tmp_path, 6, apart=[(1, 4)])
    for name, knob, value in (("P1", 0, 80), ("P2", 1, 0), ("P3", 2, 50.2), ("P4", 3, 0), ("P5", 4, 0), ("P6", 5, 90)):
        knobs.propose(name, knob, value)
    engine = LocalEngine(tmp_path / "hosts", ("a", "b", "c"), knobs.repository.environment)
    steps, said = run(knobs, engine)
    assert isinstance(steps[-1], Ended), said
    assert knobs.verdicts() == {"P1": "REJECT", "P2": "KEEP", "P3": "REJECT", "P4": "KEEP", "P5": "REJECT", "P6": "REJECT"}, (
        said
    )
    assert {name for name, value in knobs.standing().items() if value == 0} == {"k1", "k3"}
    assert any(job.id == "P5" and job.attempt == 2 for job in engine.jobs)
    knobs.repository.check_nothing_is_left()
    assert knobs.repository.expctl("verify").status == 0


def test_a_second_machine_confirms_or_contradicts(tmp_path: Path) -> None:
    knobs = Knobs(tmp_path, 2, unlike=[("a", 1), ("b", 1)], sleep_s=0.005)
    knobs.propose("P1", 0, 0)
    knobs.propose("P2", 1, 0)
    engine = LocalEngine(tmp_path / "hosts", ("c",), knobs.repository.environment)

    def join(_: FleetStep) -> None:
        if not joined:  # P2 is being judged on c by now
            joined.append("a")
            engine.join("a")

    joined: list[str] = []
    _, said = run(knobs, engine, confirms=True, after=join)
    assert knobs.verdicts() == {"P1": "KEEP", "P2": "KEEP"}, said
    (confirmed,) = knobs.repository.record("P1")["replications"]
    assert confirmed["verdict"] == "KEEP"
    (again,) = knobs.repository.record("P2")["replications"]
    assert again["verdict"] == "REJECT"
    assert blocks(knobs, "P1", "samples.jsonl") == blocks(knobs, "P2", "samples.jsonl") == {"c"}
    assert blocks(knobs, "P1", "samples-2.jsonl") == blocks(knobs, "P2", "samples-2.jsonl") == {"a"}
    assert knobs.repository.record("P2")["environment"]["device"] == "c"
    assert again["environment"]["device"] == "a"
    findings = knobs.repository.git("show", "HEAD:experiments/findings.yaml")
    assert "P2 is contradicted by a second machine" in findings
    assert "P2 is contradicted" in knobs.repository.concluded("brief").out
    knobs.repository.check_nothing_is_left()
    assert knobs.repository.expctl("verify").status == 0
    assert knobs.repository.expctl("replay", "--all").status == 0


def blocks(knobs: Knobs, experiment: str, file: str) -> set[str]:
    """The devices that the samples in a file name."""
    lines = knobs.repository.git("show", f"HEAD:experiments/{experiment}/{file}").splitlines()
    return {json.loads(line)["device"] for line in lines}


def test_a_protocol_may_ask_for_a_second_device(tmp_path: Path) -> None:
    """P1 gains on b alone, P2 everywhere. First there is no second device, and nothing lands; then one joins."""
    knobs = Knobs(tmp_path, 2, unlike=[("a", 0)], sleep_s=0.005)
    knobs.repository.edit_protocol("keep: {", "keep: {second_device: true, ")
    knobs.propose("P1", 0, 0)
    knobs.propose("P2", 1, 0)
    steps, said = run(knobs, LocalEngine(tmp_path / "hosts", ("b",), knobs.repository.environment))
    assert isinstance(steps[-1], Ended)
    assert "2 ready, 1 KEEPs not confirmed, for want of a second device" in steps[-1].why, said
    assert knobs.verdicts() == {}
    engine = LocalEngine(tmp_path / "hosts", ("a", "b"), knobs.repository.environment)
    _, said = run(knobs, engine)
    assert knobs.verdicts() == {"P1": "INCONCLUSIVE", "P2": "KEEP"}, said
    assert knobs.standing() == {"k0": 50, "k1": 0}
    assert {(job.id, job.device) for job in engine.jobs if job.id} == {("P1+", "a"), ("P2+", "a")}
    record = knobs.repository.record("P1")
    assert record["reasons"][0].startswith("not confirmed by a second device: REJECT on device a (cpu) of host-a: ")
    assert record["procedure"]["contradicted"] in record["reasons"][0]
    assert [each["verdict"] for each in record["replications"]] == ["REJECT"]
    kept = knobs.repository.record("P2")
    assert "confirmed before it landed on device a (cpu) of host-a" in kept["notes"]
    assert [each["verdict"] for each in kept["replications"]] == ["KEEP"]
    for text in (knobs.repository.git("show", "HEAD:ledger.md"), knobs.repository.concluded("brief").out):
        assert "P1 is contradicted by a second machine" in text
    assert "a second device" in knobs.repository.concluded("brief").out
    assert knobs.repository.expctl("verify").status == 0
    assert knobs.repository.expctl("replay", "--all").status == 0
    assert "not-extendable" in knobs.repository.expctl("run", "P1", "--extend").err
    knobs.repository.check_nothing_is_left()
    knobs.propose("P3", 0, 20)
    assert "second-device-needed" in knobs.repository.expctl("run", "P3").err


def test_one_machine_confirms_nothing(tmp_path: Path) -> None:
    knobs = Knobs(tmp_path, 1, sleep_s=0.005)
    knobs.propose("P1", 0, 0)
    engine = LocalEngine(tmp_path / "hosts", ("c",), knobs.repository.environment)
    steps, said = run(knobs, engine, confirms=True)
    assert isinstance(steps[-1], Ended)
    assert "1 KEEPs not confirmed, for want of a second device" in steps[-1].why, said
    assert "replications" not in knobs.repository.record("P1")
