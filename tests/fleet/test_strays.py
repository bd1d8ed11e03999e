"""What a fleet must not take in: a stranger's word, another device, an attempt that counts no more, the same result twice."""

import json
import math
import os
import platform
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unittest.mock import Mock

import pytest

from expctl import wiring_fleet
from expctl.adapters.fleet import devices, ray_engine
from expctl.adapters.fleet.child import lines_of
from expctl.adapters.fleet.meeting import Meeting, begin_meeting, only_one_head
from expctl.adapters.fleet.ray_engine import RayEngine
from expctl.adapters.fleet.ray_node import check_device, emptied
from expctl.adapters.fleet.wire import heard_bytes, heard_of, job_bytes
from expctl.adapters.journal import EVENTS, FileJournal
from expctl.domain.errors import Busy, Refused
from expctl.domain.fleet.device import Device
from expctl.domain.fleet.events import Assigned, GivenUp, Judged
from expctl.domain.fleet.schedule import Schedule
from expctl.domain.machine.walls import Walls
from expctl.domain.run.events import Noted
from expctl.files import atomic_write
from expctl.flow.fleet.attempts import Attempts
from expctl.flow.fleet.siblings import Siblings
from expctl.flow.fleet.workers import Workers
from expctl.ports.fleet import Heard, Job, Lost, Present, Stumbled, Told
from tests.fleet.knobs import Knobs
from tests.fleet.local_engine import LocalEngine
from tests.fleet.test_local import run

KINDS = EVENTS | {kind.__name__: kind for kind in (Assigned, GivenUp, Judged)}
WALLS = Judged(facts={}, walls=Walls())
JOB = Job(repository="r", base="b", branch="main", pack="p", id="P1", attempt=1, device="a")


def attempts_at(folder: Path) -> Attempts:
    return Attempts(FileJournal(folder / "attempts", kinds=KINDS))


def workers_with(attempts: Attempts) -> Workers:
    """Two devices that have joined; a has the experiment P1."""
    schedule = Schedule("kernel")
    schedule.enqueue("P1")
    packs = Mock()
    packs.name.return_value, packs.bytes.return_value = "pack", b""
    made = Workers(
        context=cast(Any, SimpleNamespace(progress=Mock(), workspace=Mock(head=lambda: "base", branch=lambda: "main"))),
        engine=Mock(),
        packs=packs,
        repository="r",
        attempts=attempts,
        schedule=schedule,
        siblings=Siblings("here"),
        silent_s=0.0,
    )
    for name in ("a", "b"):
        hear(made, Present(device=name, found=Device(uuid=name, kind="cpu"), worker=name))
        made.devices[name].fits = True
    schedule.offer("a")
    made.assign()
    return made


def hear(workers: Workers, heard: Heard) -> None:
    assert list(workers.hear(heard)) == []


def test_a_device_speaks_of_its_own_job_only(tmp_path: Path) -> None:
    attempts = attempts_at(tmp_path)
    workers = workers_with(attempts)
    words: dict[str, Any] = {"id": "P1", "attempt": 1, "event": Noted(text="x")}
    hear(workers, Told(device="b", number=0, **words))
    hear(workers, Told(device="stranger", number=0, **words))
    hear(workers, Told(device="a", id="../../P1", attempt=1, number=-1, event=Noted(text="x")))
    assert attempts.newest("P1").run == ()
    assert [file.name for file in tmp_path.rglob("*.jsonl")] == ["P1.1.jsonl"]
    hear(workers, Told(device="a", number=0, **words))
    assert attempts.newest("P1").run == (Noted(text="x"),)


def test_a_silent_device_keeps_no_campaign_from_ending(tmp_path: Path) -> None:
    workers = workers_with(attempts_at(tmp_path))
    assert workers.busy
    workers.give_up_silent()
    assert not workers.busy


def test_a_line_with_a_wrong_number_is_refused() -> None:
    line = json.loads(heard_bytes(Told(device="a", id="P1", attempt=1, number=0, event=Noted(text="x"))))
    for wrong in ({"number": "0"}, {"attempt": None}, {"id": 1}):
        with pytest.raises(Refused, match="understand"):
            heard_of(json.dumps(line | {"data": line["data"] | wrong}).encode())


def test_an_earlier_attempt_is_not_open_once_a_later_one_has_counted(tmp_path: Path) -> None:
    """A head was killed, and the next one gave the confirmation to another device."""
    attempts = attempts_at(tmp_path)
    for number, device in ((1, "a"), (2, "b")):
        attempts.begin(
            Assigned(id="P1+", attempt=number, device=device, kind="cpu", worker="w", base="", kernel="", confirms="c")
        )
    attempts.retire("P1+", 2)
    assert list(attempts_at(tmp_path).open()) == []
    assert attempts_at(tmp_path).last("P1+") == 1, "it stays as evidence"


def test_a_confirmation_that_is_committed_does_not_land_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    knobs = Knobs(tmp_path, 1, sleep_s=0.005)
    knobs.propose("P1", 0, 0)
    engine = LocalEngine(tmp_path / "hosts", ("a", "b"), knobs.repository.environment)

    class Killed(Exception):
        pass

    def retire(_: Attempts, experiment: str, __: int) -> None:
        if experiment == "P1+":
            raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(Attempts, "retire", retire)
        with pytest.raises(Killed):
            run(knobs, engine, confirms=True)
    assert len(knobs.repository.record("P1")["replications"]) == 1
    run(knobs, LocalEngine(tmp_path / "hosts", ("a", "b"), knobs.repository.environment), confirms=True)
    assert len(knobs.repository.record("P1")["replications"]) == 1
    assert not list((knobs.repository.root / ".git/expctl/fleet/attempts").glob("P1+.*"))


def test_a_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "work").write_text("a file, so that nothing can be put there")
    (line,) = lines_of(tmp_path / "work", job_bytes(JOB), b"", {})
    said = heard_of(line)
    assert isinstance(said, Stumbled)
    assert (said.id, said.attempt, said.kind) == ("P1", 1, "MachineTrouble")
    assert said.where == str(tmp_path / "work")


def test_packs_of_a_killed_worker_do_not_pile_up(tmp_path: Path) -> None:
    (tmp_path / "old.pack").write_bytes(b"of a worker that was killed")
    said = [heard_of(line) for line in lines_of(tmp_path, job_bytes(JOB), b"not what the job names", {})]
    assert isinstance(said[-1], Stumbled)
    assert said[-1].code == "fleet-pack-damaged"
    assert not list(tmp_path.glob("*.pack"))


def test_two_machines_whose_gpu_has_no_id_have_different_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    node = tmp_path / "sys/class/kfd/kfd/topology/nodes/1"
    node.mkdir(parents=True)
    (node / "properties").write_text("simd_count 80\ngfx_target_version 110501\nunique_id 0\n")
    monkeypatch.setattr(devices, "answer", lambda *_: "")

    def here(name: str, host: str) -> Device:
        return devices.device_here(tmp_path / name, machine=tmp_path, variables={}, host=host)[0]

    one, other = here("one", "n1"), here("other", "n1")
    assert one.kind == other.kind == "gfx1151"
    assert one.uuid != other.uuid
    assert here("one", "n1") == one
    assert here("one", "n2") not in (one, here("two", "n2"))  # a folder on a shared disk, and a worker's name used again
    assert here("one", "n1") == one
    (node / "properties").write_text("gfx_target_version 110501\nunique_id 255\n")
    assert here("one", "n1").uuid == "GPU-00000000000000ff"


def test_a_worker_that_dies_between_two_jobs_is_lost_once() -> None:
    """The end of one job and the start of the next are both heard of after its death. Ray itself isn't asked."""

    class Death(Exception):
        pass

    def died(_: object) -> None:
        raise Death

    ended, begun = iter("x"), iter("y")
    engine = RayEngine.__new__(RayEngine)
    engine._ray = SimpleNamespace(
        wait=lambda waits, **_: (waits, []), get=died, ObjectRef=Mock, exceptions=SimpleNamespace(RayError=Death), kill=Mock()
    )
    engine._looked_s = math.inf
    engine._waits = {ended: "a", begun: "a"}
    engine._actors = {"a": ray_engine._Actor(node="n", device=Device(uuid="a", kind="cpu"), handle=Mock(), name="rack")}
    (lost,) = engine.heard(0.0)
    assert isinstance(lost, Lost)
    assert lost.device == "a"


def node(name: str, mark: str, *, state: int = 0) -> Any:
    """A machine of the fleet, as Ray has it for a worker that asks."""
    return SimpleNamespace(state=state, resources_total={f"device:{name}": 1.0}, labels={"expctl-worker": mark})


def test_a_device_has_one_worker() -> None:
    device = Device(uuid="GPU-1", kind="cpu")
    others = [node("GPU-2", "theirs"), node("GPU-1", "mine"), node("GPU-1", "theirs", state=1)]
    check_device(others, device, "mine")  # another device, an earlier life of this worker, and a worker that is dead
    with pytest.raises(Refused) as caught:
        check_device([*others, node("GPU-1", "theirs")], device, "mine")
    assert (caught.value.code, caught.value.found) == ("fleet-device-taken", "a second one with GPU-1")


def test_a_device_that_two_machines_offer_stays_where_it_is() -> None:
    """Two workers that have joined at the same moment haven't seen each other."""
    engine = RayEngine.__new__(RayEngine)
    nodes = [{"Alive": True, "NodeID": name, "Resources": {"device:a": 1.0, "cpu": 1.0}} for name in ("one", "two")]
    made = Mock()
    engine._ray, engine._made, engine._actors, engine._waits = SimpleNamespace(nodes=lambda: nodes), made, {}, {}
    assert engine._look() == []
    owner = engine._actors["a"].node
    assert made.options.call_args.kwargs["label_selector"] == {"ray.io/node-id": owner}
    for _ in range(2):
        nodes.reverse()
        assert engine._look() == []
        assert engine._actors["a"].node == owner
    assert made.options.call_count == 1


def test_a_fleet_that_has_ended_is_told() -> None:
    with pytest.raises(Busy) as caught:
        RayEngine(Meeting(address="127.0.0.1:1", token="of one that has ended"))
    assert caught.value.code == "fleet-head-absent"


def test_down_leaves_the_workers_of_other_machines_alone(tmp_path: Path) -> None:
    with subprocess.Popen(["sleep", "60"]) as stranger:
        dead = stranger.pid
        stranger.kill()
    files = {machine: tmp_path / "workers" / machine / "pid" for machine in ("elsewhere", platform.node())}
    for machine, file in files.items():
        file.parent.mkdir(parents=True)
        file.write_text(f"{dead} {machine}")
    assert wiring_fleet.down(tmp_path) == ["nothing of a fleet runs here"]
    assert files["elsewhere"].exists()
    assert not files[platform.node()].exists()


def test_nobody_else_reaches_the_sockets_of_ray(tmp_path: Path) -> None:
    made = emptied(tmp_path)
    made.chmod(0o777)  # Ray opens its folder to everybody
    assert [each for each in (made, *made.parents) if each.stat().st_mode & 0o077 == 0 and each.name.startswith("expctl-ray-")]
    assert emptied(tmp_path) == made
    atomic_write.remove_tree(made.parent)


def test_the_sockets_of_ray_have_short_paths(tmp_path: Path) -> None:
    """A scheduler of jobs may set TMPDIR to a long path."""
    made = emptied(tmp_path, tmp_path / "projects" / "kernels" / "slurm-job-0000012345")
    assert len(str(made)) < 45
    atomic_write.remove_tree(made.parent)


@pytest.fixture
def own_umask() -> Iterator[None]:
    """A head lets nobody else read what its process writes from then on; the tests after it are no heads."""
    before = os.umask(0o022)
    yield
    os.umask(before)


@pytest.mark.usefixtures("own_umask")
def test_a_second_head_takes_nothing_from_the_first(tmp_path: Path) -> None:
    with only_one_head(tmp_path / "fleet"):
        meeting = begin_meeting(tmp_path / "fleet", "127.0.0.1", 0)
        again = "from expctl.adapters.fleet.meeting import only_one_head; from pathlib import Path; import sys\n"
        again += "with only_one_head(Path(sys.argv[1])): pass"
        answer = subprocess.run(
            [sys.executable, "-c", again, tmp_path / "fleet"], capture_output=True, text=True, check=False, timeout=60
        )
        assert "a fleet was begun on this machine already" in answer.stderr
        file = tmp_path / "fleet" / "head.json"
        assert file.stat().st_mode & 0o077 == 0
        assert meeting.token in file.read_text()
