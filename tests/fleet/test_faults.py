"""What goes wrong in a fleet: devices that die, freeze or come back late, a head that dies, workers that don't fit."""

import json
import math
from collections.abc import Callable
from pathlib import Path

import pytest

from expctl.adapters.codec.decode import Problems, decode
from expctl.adapters.fleet.wire import heard_bytes, heard_of
from expctl.adapters.journal import EVENTS, FileJournal
from expctl.domain.errors import Refused
from expctl.domain.fleet.device import Versions, mismatch
from expctl.domain.fleet.events import Assigned, GivenUp, Judged
from expctl.domain.run.events import Noted
from expctl.flow.autopilot.steps import Skipped
from expctl.flow.fleet import workers
from expctl.flow.fleet.attempts import Attempts
from expctl.flow.fleet.head import FleetStep
from expctl.flow.fleet.siblings import Siblings
from expctl.flow.run.experiment import Outcome
from expctl.ports.fleet import Beat, Finished, Heard, Job, Offered, Stumbled, Told
from tests.fleet.knobs import Knobs
from tests.fleet.local_engine import LocalEngine
from tests.fleet.test_local import run

WANTED = {"P1": "REJECT", "P2": "KEEP", "P3": "REJECT"}


@pytest.fixture
def knobs(tmp_path: Path) -> Knobs:
    made = Knobs(tmp_path, 3, sleep_s=0.05)
    for name, knob, value in (("P1", 0, 80), ("P2", 1, 0), ("P3", 2, 90)):
        made.propose(name, knob, value)
    return made


def check(knobs: Knobs) -> None:
    assert knobs.verdicts() == WANTED
    assert [name for name, value in knobs.standing().items() if value == 0] == ["k1"]
    for trailer, names in (("Expctl-Id", ["P2"]), ("Expctl-Record", list(WANTED))):
        found = knobs.repository.git("log", f"--format=%(trailers:key={trailer},valueonly)").split()
        assert sorted(found) == sorted(names)
    knobs.repository.check_nothing_is_left()


def evidence(knobs: Knobs) -> dict[str, list[str]]:
    folder = knobs.repository.root / ".git" / "expctl" / "fleet" / "attempts"
    lines = {file.stem: file.read_text().splitlines() for file in folder.glob("*.jsonl")}
    return {name: [json.loads(line)["type"] for line in found] for name, found in lines.items()}


class Troubled(LocalEngine):
    """An engine that does something to a device once an attempt has told so many events."""

    def __init__(self, folder: Path, knobs: Knobs, *, at: int, trouble: "Callable[[Troubled], object]") -> None:
        super().__init__(folder / "hosts", ("a", "b"), knobs.repository.environment)
        self._at, self._trouble, self.victim = at, trouble, ""

    def heard(self, timeout_s: float) -> tuple[Heard, ...]:
        found = super().heard(timeout_s)
        told = next((each for each in found if isinstance(each, Told) and each.number == self._at), None)
        if told is not None and not self.victim:
            self.victim = told.device
            self._trouble(self)
        return found


def killed(engine: Troubled) -> None:
    engine.kill(engine.victim)
    engine.join(engine.victim)


@pytest.mark.parametrize("at", [0, 3, 6])
def test_a_device_is_killed(knobs: Knobs, tmp_path: Path, at: int) -> None:
    engine = Troubled(tmp_path, knobs, at=at, trouble=killed)
    run(knobs, engine)
    assert engine.victim
    check(knobs)
    given_up = [lines for lines in evidence(knobs).values() if "GivenUp" in lines]
    assert len(given_up) == 1
    assert all("GivenUp" in lines for lines in evidence(knobs).values())


@pytest.mark.long  # it asks who is quicker, in seconds, which a busy machine may turn round
def test_a_device_is_frozen_and_its_late_result_is_evidence_only(knobs: Knobs, tmp_path: Path) -> None:
    engine = Troubled(tmp_path, knobs, at=6, trouble=lambda here: here.freeze(here.victim, 6.0))
    knobs.propose("P4", 0, 95)  # so that the fleet is still at work when the frozen device comes back
    knobs.propose("P5", 0, 96)
    knobs.propose("P6", 0, 97)
    _, said = run(knobs, engine, silent_s=4)
    assert f"host-{engine.victim}: it has said nothing for 4 s" in said
    assert {name: verdict for name, verdict in knobs.verdicts().items() if name in WANTED} == WANTED
    assert len(knobs.verdicts()) == 6
    late = [lines for lines in evidence(knobs).values() if "GivenUp" in lines]
    assert len(late) == 1
    assert "Judged" in late[0], late
    assert "kept as evidence, counts no more" in said
    assert f"host-{engine.victim} is back" in said
    knobs.repository.check_nothing_is_left()


class Enough(Exception):
    pass


def test_a_head_dies_and_the_next_goes_on_from_the_journals(knobs: Knobs, tmp_path: Path) -> None:
    first = LocalEngine(tmp_path / "hosts", ("a", "b"), knobs.repository.environment)

    def stop(step: FleetStep) -> None:
        if isinstance(step, Outcome):
            raise Enough

    with pytest.raises(Enough):
        run(knobs, first, after=stop)
    for device in ("a", "b"):
        first.kill(device)
    begun = {name.split(".")[0] for name, lines in evidence(knobs).items() if lines[-1] != "GivenUp" and len(lines) > 1}
    assert begun
    second = LocalEngine(tmp_path / "hosts", ("a", "b"), knobs.repository.environment)
    run(knobs, second)
    check(knobs)
    resumed = {job.id for job in second.jobs if job.events}
    landed = {each for each in begun if each not in {job.id for job in second.jobs}}
    assert resumed | landed == begun, "what was begun goes on where it was, or lands as it is"
    assert all(job.attempt == 1 for job in second.jobs if job.events)


def test_what_is_judged_waits_while_a_file_of_the_user_is_in_the_way(knobs: Knobs, tmp_path: Path) -> None:
    ledger = knobs.repository.root / "ledger.md"
    engine = Troubled(tmp_path, knobs, at=4, trouble=lambda _: ledger.write_text("mine\n"))
    with pytest.raises(Refused) as caught:
        run(knobs, engine)
    assert caught.value.where or caught.value.found
    assert knobs.verdicts() == {}
    for device in ("a", "b"):
        engine.kill(device)
    judged = {name.split(".")[0] for name, lines in evidence(knobs).items() if lines[-1] == "Judged"}
    assert judged
    ledger.unlink()
    second = LocalEngine(tmp_path / "hosts", ("a", "b"), knobs.repository.environment)
    run(knobs, second)
    check(knobs)
    measured_again = {job.id for job in second.jobs if job.id and not job.events and job.attempt == 1}
    assert not judged & measured_again


def test_no_run_goes_on_on_another_device(knobs: Knobs, tmp_path: Path) -> None:
    """So no difference is ever computed between two: a run's samples are those of its journal."""

    def stop(_: Troubled) -> None:
        raise Enough

    engine = Troubled(tmp_path, knobs, at=6, trouble=stop)
    with pytest.raises(Enough):
        run(knobs, engine)
    for device in ("a", "b"):
        engine.kill(device)
    left = next(name for name, lines in evidence(knobs).items() if "Measured" in lines)
    experiment = left.split(".")[0]
    lines = (knobs.repository.root / f".git/expctl/fleet/attempts/{left}.jsonl").read_text().splitlines()
    journal = FileJournal(knobs.repository.root / ".git/expctl/journal")
    kept = [decode(json.loads(line)["data"], EVENTS[json.loads(line)["type"]], Problems()) for line in lines[1:]]
    journal.extend(experiment, kept)
    answer = knobs.repository.expctl("run", experiment)
    assert answer.status == 1
    assert "unfinished-run-on-another-device" in answer.err
    assert experiment not in knobs.verdicts()


class Held(LocalEngine):
    """P2 ends once P3 has, beside the same kernel; what is said of P3 is heard once P2 has landed."""

    def __init__(self, knobs: Knobs, folder: Path) -> None:
        super().__init__(folder / "hosts", ("a", "b"), knobs.repository.environment)
        self._knobs, self._kept_back = knobs, list[Heard]()

    def heard(self, timeout_s: float) -> tuple[Heard, ...]:
        self._kept_back += super().heard(timeout_s)
        ended = {each.id for each in self._kept_back if isinstance(each, Finished)}
        waits = {"P2": {"P2", "P3"} <= ended, "P3": "P2" in self._knobs.verdicts()}
        found = tuple(each for each in self._kept_back if waits.get(getattr(each, "id", ""), True) or isinstance(each, Beat))
        self._kept_back = [each for each in self._kept_back if each not in found]
        return found


def test_what_was_never_timed_lands_after_the_kernel_has_changed(tmp_path: Path) -> None:
    """A candidate that fails its test leaves no rounds; it isn't begun anew by a head that can measure nothing."""
    knobs = Knobs(tmp_path, 3, sleep_s=0.005)
    knobs.propose("P2", 1, 0)
    knobs.propose("P3", 2, math.nan)
    run(knobs, Held(knobs, tmp_path))
    assert knobs.verdicts() == {"P2": "KEEP", "P3": "REJECT"}
    assert "nothing was timed" in knobs.repository.record("P3")["reasons"][0]
    knobs.repository.check_nothing_is_left()


def test_a_keep_beside_an_older_kernel_is_confirmed_without_a_search(tmp_path: Path) -> None:
    knobs = Knobs(tmp_path, 3, sleep_s=0.005)
    knobs.propose("P2", 1, 0)
    knobs.propose("P3", 2, 0)
    engine = Held(knobs, tmp_path)
    run(knobs, engine)
    assert knobs.verdicts() == {"P2": "KEEP", "P3": "KEEP"}
    assert [(job.attempt, job.kept_by) for job in engine.jobs if job.id == "P3"] == [(1, ""), (2, "objective")]
    whole, short = (knobs.repository.record(name)["procedure"] for name in ("P2", "P3"))
    assert (whole["search_rounds"], "kept_by" in whole) == (3, False)
    assert (short["search_rounds"], short["kept_by"], short["confirm_rounds"]) == (0, "objective", whole["confirm_rounds"])
    assert knobs.repository.expctl("verify").status == 0
    assert knobs.repository.expctl("replay", "--all").status == 0
    said = " ".join(knobs.repository.concluded("show", "P3").out.split())
    assert "judged again on top of P2, by a confirmation without a search; beside the older one: KEEP" in said
    assert knobs.repository.expctl("show", "P3", "--plot", str(tmp_path / "P3.svg")).status == 0
    assert knobs.repository.expctl("report", "--html", str(tmp_path / "page.html")).status == 0
    knobs.repository.check_nothing_is_left()


class Full(LocalEngine):
    """The disk of device b is full."""

    def start(self, device: str, job: Job, pack: bytes) -> None:
        if device == "b" and job.id:
            trouble = Stumbled(device="b", id=job.id, attempt=job.attempt, kind="MachineTrouble", message="no space left")
            self.jobs.append(job)
            self._heard.put(trouble)
        else:
            super().start(device, job, pack)


def test_a_full_disk_on_one_worker_costs_no_experiment(knobs: Knobs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "REST_S", 0.05)  # it is tried again far more often than the other one has time for
    monkeypatch.setattr(workers, "TRIES", 2)
    engine = Full(tmp_path / "hosts", ("a", "b"), knobs.repository.environment)
    steps, said = run(knobs, engine)
    assert said.count("host-b: no space left") == 1
    assert not [step for step in steps if isinstance(step, Skipped)]
    assert sum(job.device == "b" and job.id != "" for job in engine.jobs) > 2
    assert sum(job.device == "b" and job.id == "" for job in engine.jobs) > 2, "asked anew before it gets another experiment"
    check(knobs)


def test_versions_in_one_sentence() -> None:
    head = Versions(python="3.11", engine="2.55.1", expctl="0.1.0")
    assert mismatch(head, head) == ""
    other = Versions(python="3.12", engine="2.55.1", expctl="0.2.0")
    assert mismatch(head, other) == "Python 3.12 here, 3.11 at the head; expctl 0.2.0 here, 0.1.0 at the head"


def test_a_worker_with_another_driver_is_left_out() -> None:
    siblings = Siblings("")
    assert siblings.weigh(Offered(device="a", target="gfx", conditions={"driver": "6.1", "gpu": "x"})) == ""
    assert siblings.weigh(Offered(device="b", target="gfx", conditions={"driver": "6.1", "gpu": "x"})) == ""
    why = siblings.weigh(Offered(device="c", target="gfx", conditions={"driver": "6.2", "gpu": "x"}))
    assert why == ", left out: another epoch than its siblings (driver 6.1 -> 6.2)"
    assert siblings.weigh(Offered(device="d", target="cpu", conditions={})) == ", left out: this campaign times gfx"


def test_attempts_keep_what_each_was_told_apart(tmp_path: Path) -> None:
    kinds = EVENTS | {kind.__name__: kind for kind in (Assigned, GivenUp, Judged)}
    attempts = Attempts(FileJournal(tmp_path / "attempts", kinds=kinds))
    for number, device in ((1, "a"), (2, "b")):
        attempts.begin(Assigned(id="P1", attempt=number, device=device, kind="cpu", worker="w", base="", kernel=""))
    for at in (0, 1, 1, 0, 2):  # a worker that repeats itself
        for number, device in ((1, "a"), (2, "b")):
            attempts.tell(Told(device=device, id="P1", attempt=number, number=at, event=Noted(text=f"{device}{at}")))
    attempts.give_up("P1", 1, GivenUp(why="lost"))
    attempts.tell(Told(device="a", id="P1", attempt=1, number=3, event=Noted(text="a3")))
    assert attempts.newest("P1").run == tuple(Noted(text=f"b{at}") for at in range(3))
    attempts.begin(Assigned(id="P2", attempt=1, device="a", kind="cpu", worker="w", base="", kernel=""))
    (tmp_path / "attempts" / "P2.1.jsonl").write_bytes(b"\0" * 512 + b"\n")  # as a power cut may leave it
    again = Attempts(FileJournal(tmp_path / "attempts", kinds=kinds))
    assert [each.assigned.attempt for each in again.open()] == [2]
    again.give_up("P1", 2, GivenUp(why="lost too"))
    assert list(again.open()) == []
    assert again.last("P1") == 2


def test_what_is_said_arrives_as_it_was() -> None:
    for heard in (
        Told(device="d", id="P1", attempt=3, number=0, event=Noted(text="x")),
        Stumbled(device="d", id="P1", attempt=1, kind="Busy", message="m", hint="h"),
        Offered(device="d", target="here", conditions={"cpu": "x"}),
    ):
        assert heard_of(heard_bytes(heard)) == heard
