"""Who holds a card."""

from pathlib import Path

import pytest

from expctl.adapters.sensors.device_holders import KFD_PROCESSES, DeviceHolders
from expctl.adapters.sensors.process_table import ProcessTable
from expctl.domain.protocol.model import Build, NumberKind, Requires, Target, Toolchain
from tests.fakes.machine import FakeProc

ME = 500
BUILD = Build(toolchain=Toolchain.COMMAND, argv=("make",))


@pytest.fixture
def dev(tmp_path: Path) -> Path:
    folder = tmp_path / "dev"
    folder.mkdir()
    for name in ("null", "nvidia0", "nvidia1", "nvidiactl", "nvidia-uvm", "kfd"):
        (folder / name).touch()
    return folder


def holders(proc: FakeProc, dev: Path, tmp_path: Path, *idle: str) -> DeviceHolders:
    return DeviceHolders(ProcessTable(mark="m", root=proc.root, me=ME), idle=idle, sys=tmp_path / "sys", dev=dev)


def test_whoever_has_a_card_open_holds_it(proc: FakeProc, dev: Path, tmp_path: Path) -> None:
    proc.add(600, "python3", "train.py", links=["/dev/null", f"{dev}/nvidia1"])
    proc.add(601, "python3", "query.py", links=[f"{dev}/nvidiactl"])
    proc.add(602, "python3", "ours.py", parent=ME, links=[f"{dev}/nvidia0"])
    proc.add(603, "a.out", links=[f"{dev}/kfd"])
    proc.add(604, "nv-hostengine", links=[f"{dev}/nvidia0"])
    sees = holders(proc, dev, tmp_path, "nv-host*")
    assert {(each.pid, each.what) for each in sees.blocking()} == {(600, "python3 holds nvidia1"), (603, "a.out holds kfd")}
    assert [each.pid for each in sees.look([602, 600, 604])] == [600]
    assert sees.why_absent() == ""
    assert "kfd" in sees.says()


def test_the_drivers_list_names_holders_whose_descriptors_nobody_may_see(proc: FakeProc, dev: Path, tmp_path: Path) -> None:
    listed = tmp_path / "sys" / KFD_PROCESSES
    for pid in (600, 602):
        (listed / str(pid)).mkdir(parents=True)
    proc.add(600, "python3", "train.py")
    proc.add(602, "python3", "ours.py", parent=ME)
    assert [(each.pid, each.what) for each in holders(proc, dev, tmp_path).look([])] == [(600, "python3 holds kfd")]


def test_without_a_card_it_is_absent(proc: FakeProc, tmp_path: Path) -> None:
    sees = holders(proc, tmp_path / "no", tmp_path)
    assert sees.blocking() == ()
    assert sees.why_absent() == "no /dev/kfd and no /dev/nvidia*"


def test_descriptors_that_may_not_be_seen_are_counted(
    proc: FakeProc, dev: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sees = holders(proc, dev, tmp_path)
    monkeypatch.setattr(ProcessTable, "links", lambda _table, pid: None if pid == 1 else [])
    assert sees.blocking() == sees.blocking() == ()
    assert "1 processes of other users" in sees.why_absent()


@pytest.mark.parametrize(
    ("target", "is_asked"),
    [
        (Target(build=BUILD, requires=Requires(devices=("/dev/kfd",))), True),
        (Target(build=BUILD, number_kind=NumberKind.DEVICE_TIME), True),
        (Target(build=BUILD), False),
        (None, True),
    ],
)
def test_it_is_asked_where_a_gpu_is_timed(
    proc: FakeProc, dev: Path, tmp_path: Path, target: Target | None, is_asked: bool
) -> None:
    assert (holders(proc, dev, tmp_path).why_unused(target) == "") == is_asked
