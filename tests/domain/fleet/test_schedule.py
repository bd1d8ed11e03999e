"""The schedule of a fleet against a model of the world in which every change has a known effect: nothing is lost, nothing lands
twice, KEEPs land in the order of the queue, and none lands beside a kernel that it was not measured with.
"""

from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.fleet.assignment import Assignment
from expctl.domain.fleet.schedule import Schedule

DEVICES = ("a", "b", "c")


class World:
    """Experiments are numbers; number n gains alone if n is even, and not on top of any of `spoilt[n]`."""

    def __init__(self, count: int, spoilt: dict[int, set[int]]) -> None:
        self.schedule = Schedule("0")
        self.kernel: tuple[int, ...] = ()
        self.spoilt = spoilt
        self.running: dict[str, tuple[Assignment, tuple[int, ...]]] = {}
        self.stale: list[tuple[Assignment, bool]] = []
        self.verdicts: dict[int, bool] = {}
        self.landed: list[int] = []
        self.judged_beside: dict[int, tuple[int, ...]] = {}
        for number in range(count):
            self.schedule.enqueue(str(number))

    def is_kept(self, number: int, kernel: tuple[int, ...]) -> bool:
        return number % 2 == 0 and not self.spoilt.get(number, set()) & set(kernel)

    def settle(self) -> None:
        while True:
            name = self.schedule.next_landing()
            if name:
                number = int(name)
                keep = self.verdicts[number]
                if keep:
                    assert self.judged_beside[number] == self.kernel, "landed beside a kernel that it was not measured with"
                    self.kernel = (*self.kernel, number)
                assert number not in self.landed
                self.landed.append(number)
                self.schedule.landed(name, str(len(self.kernel)))
                continue
            given_ = self.schedule.assign()
            if given_ is None:
                return
            assert given_.device not in self.running
            assert given_.id not in {each.id for each, _ in self.running.values()}
            self.running[given_.device] = (given_, self.kernel)

    def conclude(self, device: str) -> None:
        assignment, kernel = self.running.pop(device)
        keep = self.is_kept(int(assignment.id), kernel)
        assert self.schedule.judged(assignment.id, assignment.attempt, keep=keep)
        self.verdicts[int(assignment.id)], self.judged_beside[int(assignment.id)] = keep, kernel

    def lose(self, device: str) -> None:
        lost = self.schedule.lose(device)
        if device in self.running:
            assignment, kernel = self.running.pop(device)
            assert lost == assignment.id
            self.stale.append((assignment, self.is_kept(int(assignment.id), kernel)))
        else:
            assert lost == ""

    def late(self) -> None:
        for assignment, keep in self.stale:
            assert not self.schedule.judged(assignment.id, assignment.attempt, keep=keep)
        self.stale.clear()


@given(
    count=st.integers(1, 12),
    spoilt=st.dictionaries(st.integers(0, 11), st.sets(st.integers(0, 11), max_size=3), max_size=6),
    acts=st.lists(st.tuples(st.sampled_from(("conclude", "lose", "offer", "late")), st.sampled_from(DEVICES)), max_size=60),
)
def test_every_order_of_events(count: int, spoilt: dict[int, set[int]], acts: list[tuple[str, str]]) -> None:
    world = World(count, spoilt)
    for act, device in acts:
        if act == "offer":
            world.schedule.offer(device)
        elif act == "lose":
            world.lose(device)
        elif act == "late":
            world.late()
        elif device in world.running:
            world.conclude(device)
        world.settle()
    for device in DEVICES:
        world.schedule.offer(device)
    world.settle()
    for _ in range(4 * count + 4):
        for device in tuple(world.running):
            world.conclude(device)
            world.settle()
    world.late()
    assert sorted(world.landed) == list(range(count))
    kept = [number for number in world.landed if world.verdicts[number]]
    assert kept == sorted(kept)
    assert kept == one_after_another(world, count)
    assert len(world.schedule) == 0


def one_after_another(world: World, count: int) -> list[int]:
    """What one machine keeps that judges each beside the newest kernel. A change that loses alone and wins on top of others is
    rejected by a fleet; here no change is like that.
    """
    kernel: tuple[int, ...] = ()
    for number in range(count):
        if world.is_kept(number, kernel):
            kernel = (*kernel, number)
    return list(kernel)


def test_good_alone_and_bad_together() -> None:
    world = World(3, {2: {0}})
    for device in DEVICES:
        world.schedule.offer(device)
    world.settle()
    world.conclude("c")
    world.settle()
    assert world.landed == []  # 2 is a KEEP, and 0 and 1 are before it
    world.conclude("a")
    world.settle()
    assert world.landed == [0]
    world.conclude("b")
    world.settle()
    assert world.landed == [0, 1]
    (again, _) = next(iter(world.running.values()))
    assert (again.id, again.again, again.attempt) == ("2", True, 2)
    world.conclude(again.device)
    world.settle()
    assert world.landed == [0, 1, 2]
    assert world.kernel == (0,)


def test_a_device_that_comes_back_goes_on_after_the_head_was_killed() -> None:
    schedule = Schedule("0")
    for name in ("1", "2"):
        schedule.enqueue(name)
    schedule.begun_before("1", 1, "a", beside="0")
    schedule.offer("b")
    other = schedule.assign()
    assert other is not None
    assert (other.id, other.attempt, other.resumes) == ("1", 2, False)  # b was here first
    schedule.offer("a")
    next_ = schedule.assign()
    assert next_ is not None
    assert (next_.id, next_.resumes) == ("2", False)

    schedule = Schedule("0")
    for name in ("1", "2"):
        schedule.enqueue(name)
    schedule.begun_before("2", 3, "a", beside="0")
    schedule.offer("a")
    resumed = schedule.assign()
    assert resumed is not None
    assert (resumed.id, resumed.attempt, resumed.resumes) == ("2", 3, True)


@given(acts=st.lists(st.tuples(st.sampled_from(("conclude", "lose", "offer")), st.sampled_from(DEVICES)), max_size=40))
def test_a_confirmation_runs_on_another_device_and_holds_nothing_up(acts: list[tuple[str, str]]) -> None:
    schedule = Schedule("0")
    schedule.confirm("1", "a")
    schedule.confirm("1", "b")  # once is enough
    schedule.enqueue("2")
    running: dict[str, Assignment] = {}
    concluded = []

    def settle() -> None:
        while name := schedule.next_landing():
            schedule.landed(name, "0")
            concluded.append(name)
        while assignment := schedule.assign():
            if assignment.confirms:
                assert (assignment.id, assignment.confirms, assignment.device != "a") == ("1+", "a", True)
                assert "2" in concluded or any(each.id == "2" for each in running.values())
            running[assignment.device] = assignment

    for act, device in (*acts, *(("offer", each) for each in DEVICES), *(("conclude", each) for each in DEVICES * 3)):
        if act == "offer":
            schedule.offer(device)
        elif act == "lose":
            schedule.lose(device)
            running.pop(device, None)
        elif device in running:
            done = running.pop(device)
            assert schedule.judged(done.id, done.attempt, keep=done.id == "1+")
        settle()
    assert sorted(concluded) == ["1+", "2"]
    assert schedule.kernel == "0"


def test_a_late_verdict_does_not_count_while_another_attempt_runs() -> None:
    schedule = Schedule("0")
    schedule.enqueue("1")
    schedule.offer("a")
    first = schedule.assign()
    assert first is not None
    assert schedule.lose("a") == "1"
    schedule.offer("b")
    second = schedule.assign()
    assert second is not None
    assert not schedule.judged("1", first.attempt, keep=True)
    assert not schedule.failed("1", first.attempt, retry=False)
    assert schedule.next_landing() == ""
    assert schedule.judged("1", second.attempt, keep=False)
    assert schedule.next_landing() == "1"


def test_what_is_measured_again_after_an_invalid_record_keeps_its_place() -> None:
    schedule = Schedule("0")
    for name in ("1", "2"):
        schedule.enqueue(name)
    for device in ("a", "b"):
        schedule.offer(device)
    first, second = schedule.assign(), schedule.assign()
    assert first is not None
    assert second is not None
    assert schedule.judged("2", second.attempt, keep=True)
    assert schedule.judged("1", first.attempt, keep=False)
    assert schedule.next_landing() == "1"
    schedule.landed("1", "0", retry=True)
    assert schedule.next_landing() == ""
    again = schedule.assign()
    assert again is not None
    assert (again.id, again.attempt) == ("1", 2)
    assert schedule.judged("1", 2, keep=False)
    assert schedule.next_landing() == "1"
    schedule.landed("1", "0")
    assert schedule.next_landing() == "2"


@given(
    acts=st.lists(st.tuples(st.sampled_from(("conclude", "lose", "offer", "moved")), st.sampled_from(DEVICES)), max_size=50),
    agrees=st.sets(st.integers(0, 3)),
)
def test_a_keep_that_needs_a_second_device_waits_for_it(acts: list[tuple[str, str]], agrees: set[int]) -> None:
    """Whatever is lost, and whenever somebody else changes the kernel: it lands once another device has measured it beside the
    newest one, and each experiment lands once.
    """
    schedule = Schedule("0")
    for number in range(4):
        schedule.enqueue(str(number))
    running: dict[str, tuple[Assignment, str]] = {}
    measured: dict[str, tuple[str, str]] = {}  # device and kernel of the newest verdict, by name
    landed: list[str] = []
    kernels = 0

    def settle() -> None:
        nonlocal kernels
        while True:
            if name := schedule.next_landing():
                kept = schedule.is_kept(name)
                if kept:
                    (device, beside), (other, beside_too) = measured[name], measured[name + "+"]
                    assert beside == beside_too == schedule.kernel
                    assert device != other
                    assert schedule.is_answered(name)
                    kernels += int(name) in agrees
                assert name not in landed
                landed.append(name)
                schedule.landed(name, str(kernels))
            elif name := schedule.unconfirmed():
                schedule.confirm(name, measured[name][0])
            elif assignment := schedule.assign():
                assert assignment.device not in running
                running[assignment.device] = (assignment, schedule.kernel)
            else:
                return

    def conclude(device: str) -> None:
        done, kernel = running.pop(device)
        measured[done.id] = (device, kernel)
        assert schedule.judged(done.id, done.attempt, keep=True, needs_second=not done.confirms)

    for act, device in acts:
        if act == "offer":
            schedule.offer(device)
        elif act == "lose":
            schedule.lose(device)
            running.pop(device, None)
        elif act == "moved":
            kernels += 1
            schedule.kernel = str(kernels)
        elif device in running:
            conclude(device)
        settle()
    for _ in range(80):
        for device in DEVICES:
            schedule.offer(device)
            settle()
            if device in running:
                conclude(device)
                settle()
    assert len(schedule) == 0
    assert [name for name in landed if not name.endswith("+")] == ["0", "1", "2", "3"]
    assert sorted(name for name in landed if name.endswith("+")) == ["0+", "1+", "2+", "3+"]


def kept_on_one() -> Schedule:
    """A schedule whose one experiment was kept on device a, and needs a second device."""
    schedule = Schedule("0")
    schedule.enqueue("1")
    schedule.offer("a")
    first = schedule.assign()
    assert first is not None
    assert schedule.judged("1", first.attempt, keep=True, needs_second=True)
    return schedule


def test_one_device_alone_keeps_nothing_that_needs_a_second() -> None:
    schedule = kept_on_one()
    assert schedule.next_landing() == ""
    assert schedule.unconfirmed() == "1"
    schedule.confirm("1", "a")
    assert (schedule.assign(), schedule.unconfirmed(), schedule.lacks_another()) == (None, "", 1)
    schedule.offer("b")
    check = schedule.assign()
    assert check is not None
    assert (check.id, check.device, schedule.lacks_another()) == ("1+", "b", 0)


def test_a_confirmation_that_is_refused_takes_its_keep_along() -> None:
    schedule = kept_on_one()
    schedule.confirm("1", "a")
    schedule.offer("b")
    check = schedule.assign()
    assert check is not None
    assert schedule.failed("1+", check.attempt, retry=False)
    assert len(schedule) == 0
    assert (schedule.next_landing(), schedule.unconfirmed()) == ("", "")


def test_a_confirmation_beside_an_older_kernel_confirms_nothing() -> None:
    schedule = kept_on_one()
    schedule.confirm("1", "a")
    schedule.offer("b")
    check = schedule.assign()
    schedule.kernel = "1"  # somebody has committed
    assert schedule.next_landing() == ""
    again = schedule.assign()
    assert check is not None
    assert again is not None
    assert (check.id, again.id, again.again) == ("1+", "1", True)
    assert schedule.judged("1", again.attempt, keep=True, needs_second=True)
    assert schedule.judged("1+", check.attempt, keep=True)
    assert schedule.next_landing() == ""
    assert schedule.unconfirmed() == "1"
