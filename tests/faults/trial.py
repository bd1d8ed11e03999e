"""What a class of faults is made of: a stage, what is done to it, and what must be true afterwards."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from random import Random

from tests.faults.fault_lab import Attempt, Lab, Running, Scene
from tests.faults.invariants import Expected, UserState, user_state, violations
from tests.faults.shim import Plan

LATE: Mapping[str, tuple[str, str]] = {"P1": ("first late-keep", "KEEP"), "P2": ("first slower late-reject", "REJECT")}
BEFORE: dict[tuple[str, str], tuple[UserState, str]] = {}  # lab and stage -> what every copy of it begins with


@dataclass(slots=True)
class Trial:
    """One trial of one class: number `number` of `total`, so that a class can spread its calls evenly."""

    lab: Lab
    draw: Random
    number: int
    total: int
    defect: str = ""

    def begin(self, stage: str, experiment: str, *verdicts: str, words: tuple[str, ...] = ()) -> "Story":
        """A fresh copy of a stage, with the defect that is planted in this trial. `words` are the command, if not `run`."""
        plain_s = self.lab.plain_s(stage, words or ("run", experiment))
        scene = self.lab.scene(stage, defect=self.defect)
        key = (str(self.lab.folder), stage)
        if key not in BEFORE:
            BEFORE[key] = user_state(scene), scene.ref("refs/heads/main")
        user, old = BEFORE[key]
        return Story(scene, Expected(experiment=experiment, verdicts=verdicts, user=user, old=old, plain_s=plain_s))

    def one_of(self, calls: int) -> int:
        """A call from 1 to `calls`: even over the class, at random within a share."""
        share = calls / max(1, self.total)
        return min(calls, 1 + int(self.number * share + self.draw.random() * share))

    def kth(self, stage: str, experiment: str, plan: Plan) -> Plan:
        """The plan, at one of the calls that the undisturbed command makes."""
        return replace(plan, at=self.one_of(self.lab.calls(stage, ("run", experiment), plan)))


@dataclass(slots=True)
class Story:
    """A scene and what it is held to."""

    scene: Scene
    expected: Expected
    said: tuple[str, ...] = ()

    def run(self, plan: Plan | None = None) -> Attempt:
        """`expctl run` of the experiment."""
        return self.scene.run("run", self.expected.experiment, plan=plan)

    def start(self, plan: Plan | None = None) -> Running:
        """The same in the background."""
        return self.scene.start("run", self.expected.experiment, plan=plan)

    def resume(self, until: int = 0) -> None:
        """At most two resumes."""
        for _ in range(self.expected.resumes):
            if self.run().status == until:
                return

    def refused(self, words: str) -> None:
        """It must say no, with these words, and leave everything as it is."""
        before = user_state(self.scene)
        attempt = self.run()
        if attempt.status != 1 or words not in attempt.said:
            self.say(f"9: {words!r} was expected, it ended with {attempt.status}: {attempt.said[-300:]}")
        if user_state(self.scene) != before:
            self.say("3: a run that was refused changed the user's work")

    def say(self, violation: str) -> None:
        """A violation that only this class can see."""
        self.said = (*self.said, violation)

    def allow_unclean(self, *entries: str) -> None:
        """Entries of `git status` on files that expctl writes, one of which may be there: it is the user's."""
        self.expected = replace(self.expected, may_be_unclean=entries)

    def user_acted(self) -> None:
        """What the user has done since is theirs."""
        self.expected = replace(self.expected, user=user_state(self.scene))

    def violations(self) -> tuple[str, ...]:
        """Of the nine."""
        return (*self.said, *violations(self.scene, self.expected))


Play = Callable[[Trial], Story]


@dataclass(frozen=True, slots=True, kw_only=True)
class FaultClass:
    """One item of the list. `share` is its part of the trials of the long form; `planted` the defect it must catch."""

    name: str
    play: Play
    planted: str
    share: float = 1.0
