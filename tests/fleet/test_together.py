"""A head that lands what is not kept together: when several wait, and when that holds nothing up."""

from collections.abc import Sequence
from pathlib import Path

from expctl.domain.fleet.pace import REST, REST_MOST_S, Pace
from expctl.domain.fleet.schedule import Schedule
from expctl.flow.run.experiment import Outcome
from expctl.ports.fleet import Finished, Heard
from tests.fleet.knobs import Knobs
from tests.fleet.local_engine import LocalEngine
from tests.fleet.test_local import run


class Holding(LocalEngine):
    """An engine that tells of ended jobs when as many have ended as there are devices."""

    def __init__(self, folder: Path, names: tuple[str, ...], knobs: Knobs) -> None:
        super().__init__(folder, names, knobs.repository.environment)
        self._held: list[Heard] = []
        self._count = len(names)

    def heard(self, timeout_s: float) -> tuple[Heard, ...]:
        found = super().heard(timeout_s)
        self._held += [each for each in found if isinstance(each, Finished)]
        told: Sequence[Heard] = [each for each in found if not isinstance(each, Finished)]
        if len(self._held) == self._count:
            told, self._held = [*told, *self._held], []
        return tuple(told)


def landings(knobs: Knobs) -> list[list[str]]:
    """The experiments that each commit with records names, oldest first."""
    form = "--format=%(trailers:key=Expctl-Record,valueonly,separator=%x20)"
    return [line.split() for line in knobs.repository.git("log", "--reverse", form).splitlines() if line]


def test_what_ends_at_the_same_time_lands_in_one_commit_and_a_keep_alone(tmp_path: Path) -> None:
    knobs = Knobs(tmp_path, 3, sleep_s=0.005)
    for name, knob, value in (("P1", 0, 80), ("P2", 1, 0), ("P3", 2, 90)):
        knobs.propose(name, knob, value)
    steps, said = run(knobs, Holding(tmp_path / "hosts", ("a", "b", "c"), knobs))
    assert knobs.verdicts() == {"P1": "REJECT", "P2": "KEEP", "P3": "REJECT"}, said
    first, second = landings(knobs)
    assert sorted(first) == ["P1", "P3"]
    assert second == ["P2"]
    assert [each.record.id for each in steps if isinstance(each, Outcome)] == [*first, "P2"]
    assert knobs.standing() == {"k0": 50, "k1": 0, "k2": 50}
    for name in first:
        assert any("measured on device" in note for note in knobs.repository.record(name)["notes"])
    knobs.repository.check_nothing_is_left()
    assert not list((knobs.repository.root / ".git" / "expctl" / "fleet" / "attempts").glob("*"))
    assert knobs.repository.expctl("verify").status == 0
    assert knobs.repository.expctl("replay", "--all").status == 0


def test_while_the_device_works_results_wait_for_each_other(tmp_path: Path) -> None:
    knobs = Knobs(tmp_path, 5, sleep_s=0.005)
    for number in range(5):
        knobs.propose(f"P{number + 1}", number, 80)
    _, said = run(knobs, LocalEngine(tmp_path / "hosts", ("a",), knobs.repository.environment))
    assert knobs.verdicts() == {f"P{number + 1}": "REJECT" for number in range(5)}, said
    found = landings(knobs)
    assert found[0] == ["P1"]  # alone, at once
    assert sorted(name for names in found for name in names) == [f"P{number + 1}" for number in range(5)]
    assert len(found) < 5, found
    knobs.repository.check_nothing_is_left()


def test_a_keep_or_a_device_with_nothing_to_do_lets_nothing_wait() -> None:
    schedule = Schedule("0")
    for number in range(1, 6):
        schedule.enqueue(f"P{number}")
        schedule.offer(f"d{number}")
        assert schedule.assign() is not None
    for name in ("P1", "P2"):
        schedule.judged(name, 1, keep=False)
        schedule.lose(f"d{name[1:]}")
    assert schedule.next_landing() == "P1"
    assert schedule.next_together(9) == ("P1", "P2")
    assert schedule.next_together(1) == ("P1",)
    assert not schedule.is_pressed(unlocks=True)
    schedule.offer("free")
    assert schedule.is_pressed(unlocks=True)
    assert not schedule.is_pressed(unlocks=False)
    schedule.judged("P4", 1, keep=True)
    assert not schedule.is_pressed(unlocks=False)  # P3 is before it, and still runs
    schedule.judged("P3", 1, keep=True)
    assert schedule.is_pressed(unlocks=False)
    for name in ("P1", "P2", "P3"):
        assert schedule.next_landing() == name
        schedule.landed(name, "0")
    assert schedule.next_together(9) == ()
    schedule.judged("P5", 1, keep=False)
    assert schedule.is_pressed(unlocks=False)  # nothing runs
    assert schedule.next_together(9) == ("P5",)


def test_a_head_rests_after_a_landing_for_a_multiple_of_what_that_took() -> None:
    pace = Pace()
    assert not pace.rests(0.0)
    pace.landed(10.0, 10.5)
    assert pace.rests(10.5 + 0.49 * REST)
    assert not pace.rests(10.5 + 0.51 * REST)
    pace.landed(100.0, 200.0)
    assert pace.rests(199.0 + REST_MOST_S)
    assert not pace.rests(201.0 + REST_MOST_S)
