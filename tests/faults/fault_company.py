"""Others in the repository: two and ten runners at once, and the user who commits, checks out or collects garbage meanwhile."""

from collections.abc import Callable, Collection
from dataclasses import replace

from tests.faults.fault_kills import STOP
from tests.faults.fault_lab import Scene
from tests.faults.trial import LATE, FaultClass, Play, Story, Trial


def _runners(count: int) -> Play:
    def play(trial: Trial) -> Story:
        experiment = trial.draw.choice(("P1", "P2"))
        stage, verdict = LATE[experiment]
        story = trial.begin(stage, experiment, verdict)
        for running in [story.start() for _ in range(count)]:
            running.wait()
        story.resume()
        return story

    return play


def meanwhile(act: Callable[[Scene], None], *others: str, late: bool = False, ends: Collection[int] = (0,)) -> Play:
    """The user acts while the runner is stopped at any call (`late`: in the second half of the calls). What git refuses because
    of a lock, the user didn't do. Whoever ended otherwise than in `ends` (if it names any) is resumed.
    """

    def play(trial: Trial) -> Story:
        experiment = trial.draw.choice(("P1", "P2"))
        stage, verdict = LATE[experiment]
        story = trial.begin(stage, experiment, verdict, *others)
        plan = trial.kth(stage, experiment, STOP)
        if late:
            plan = replace(plan, at=(plan.at + trial.lab.calls(stage, ("run", experiment), STOP)) // 2)
        running = story.start(plan)
        if running.until_stopped():
            act(story.scene)
            story.user_acted()
            running.go_on()
        if running.wait().status not in ends and ends:
            story.resume()
        return story

    return play


def _commit(scene: Scene) -> None:
    scene.write("notes/changed", "committed\n")
    scene.git("commit", "-q", "-m", "notes", "--", "notes/changed", check=False)


def _commit_kernel(scene: Scene) -> None:
    scene.write("src/other", "mine\n")
    scene.git("add", "src/other", check=False)
    scene.git("commit", "-q", "-m", "the kernel", "--", "src/other", check=False)


def _switch(scene: Scene) -> None:
    scene.git("switch", "-q", "-c", "other", check=False)


def _collect(scene: Scene) -> None:
    scene.git("gc", "-q", "--prune=now", check=False)


COMPANY = (
    FaultClass(name="two runners", play=_runners(2), planted="no lock of the repository", share=0.7),
    FaultClass(name="ten runners", play=_runners(10), planted="no lock of the repository", share=0.4),
    FaultClass(name="the user commits", play=meanwhile(_commit), planted="the branch is not compared", share=1.5),
    FaultClass(name="the user checks out", play=meanwhile(_switch), planted="the branch that is checked out is not looked at"),
    FaultClass(name="the user collects garbage", play=meanwhile(_collect), planted="objects that vanish are bugs"),
)
