"""SIGKILL: of the runner at any call, of a child alone, of everything, and of resumes."""

import contextlib
import os
import signal
from dataclasses import replace
from pathlib import Path

from tests.faults.fault_lab import Scene
from tests.faults.shim import Act, Calls, PairedBy, Plan
from tests.faults.trial import LATE, FaultClass, Story, Trial

RUNNER = Plan(act=Act.KILL_RUNNER)
STOP = Plan(act=Act.SIGNAL_RUNNER, number=signal.SIGSTOP)


def _keep(trial: Trial) -> Story:
    return _killed(trial, "P1", RUNNER)


def _reject(trial: Trial) -> Story:
    return _killed(trial, "P2", RUNNER)


def _journal(trial: Trial) -> Story:
    """Before each call that writes, flushes, makes or removes a journal."""
    return _killed(trial, trial.draw.choice(("P1", "P2")), replace(RUNNER, only="/journal"))


def _from_the_start(trial: Trial) -> Story:
    """Most of a KEEP is rounds; a REJECT has all the calls that come before them, in a third of the time."""
    stage, experiment, verdict = ("first", "P1", "KEEP") if trial.number % 8 == 7 else ("first slower", "P2", "REJECT")
    story = trial.begin(stage, experiment, verdict)
    story.run(trial.kth(stage, experiment, RUNNER))
    story.resume()
    return story


def _control(trial: Trial) -> Story:
    """From the start, where the control of the day comes between test and rounds."""
    story = trial.begin("first slower controlled", "P2", "REJECT")
    story.run(trial.kth("first slower controlled", "P2", RUNNER))
    story.resume()
    return story


def _resume(trial: Trial) -> Story:
    """The second kill, at each call of the resume, is the one that is spread; the first comes anywhere."""
    return _killed(trial, trial.draw.choice(("P1", "P2")), RUNNER, deep=1)


def _three_deep(trial: Trial) -> Story:
    return _killed(trial, trial.draw.choice(("P1", "P2")), RUNNER, deep=3)


def _git_alone(trial: Trial) -> Story:
    return _killed(trial, trial.draw.choice(("P1", "P2")), Plan(act=Act.KILL_SELF, by=PairedBy.CHILDREN))


def _git_and_runner(trial: Trial) -> Story:
    return _killed(trial, trial.draw.choice(("P1", "P2")), Plan(act=Act.KILL_BOTH, by=PairedBy.CHILDREN))


def _killed(trial: Trial, experiment: str, plan: Plan, deep: int = 0) -> Story:
    stage, verdict = LATE[experiment]
    story = trial.begin(stage, experiment, verdict)
    calls = trial.lab.calls(stage, ("run", experiment), plan)
    for _ in range(deep):
        story.run(replace(plan, at=trial.draw.randint(1, calls)))
    story.run(trial.kth(stage, experiment, plan))
    story.resume()
    return story


def _everything(trial: Trial) -> Story:
    """The runner and all that it started, at once."""
    stage, verdict = LATE["P1"] if trial.number % 2 else ("first slower", "REJECT")
    story = trial.begin(stage, "P1" if trial.number % 2 else "P2", verdict)
    running = story.start(trial.kth(stage, story.expected.experiment, STOP))
    if running.until_stopped():
        for pid in descendants(running.pid):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        running.go_on()
    running.wait()
    story.resume()
    return story


def _step_alone(trial: Trial) -> Story:
    """The build, the test or a benchmark worker dies under the runner; no verdict may come of that."""
    experiment, stage, verdict = ("P1", *LATE["P1"]) if trial.number % 3 == 0 else ("P2", "first slower", "REJECT")
    story = trial.begin(stage, experiment, verdict, "INVALID")
    plan = replace(STOP, by=PairedBy.RUNNER, kinds=Calls.WRITE)
    running = story.start(trial.kth(stage, story.expected.experiment, plan))
    if running.until_stopped():
        _kill_steps(story.scene, running.pid)
        running.go_on()
    if running.wait().status != 0:  # what ended as INVALID would be tried anew
        story.resume()
    return story


def _kill_steps(scene: Scene, runner: int) -> None:
    for pid in descendants(runner):
        if pid != runner and Path(f"/proc/{pid}/exe").exists():
            with contextlib.suppress(OSError):
                if os.readlink(f"/proc/{pid}/exe") in (str(scene.lab.standin), "/usr/bin/cp", "/bin/cp"):
                    os.kill(pid, signal.SIGKILL)


def descendants(pid: int) -> list[int]:
    """A process and everything below it."""
    import psutil

    try:
        return [pid, *(child.pid for child in psutil.Process(pid).children(recursive=True))]
    except psutil.Error:
        return [pid]


KILLS = (
    FaultClass(name="kill the runner, KEEP", play=_keep, planted="publications are not recovered", share=4),
    FaultClass(name="kill the runner, REJECT", play=_reject, planted="published records are not looked for", share=4),
    FaultClass(name="kill the runner, first calls", play=_from_the_start, planted="check-outs stay", share=1.5),
    FaultClass(name="kill the runner, control", play=_control, planted="check-outs stay"),
    FaultClass(name="kill the runner, journal", play=_journal, planted="no intent is written", share=1.5),
    FaultClass(name="kill a resume", play=_resume, planted="a publication is always undone", share=2),
    FaultClass(name="kill a resume, three deep", play=_three_deep, planted="locks of ours are not known", share=1.5),
    FaultClass(name="kill a git child", play=_git_alone, planted="git's status is not looked at", share=2),
    FaultClass(
        name="kill the runner and a git child", play=_git_and_runner, planted="files follow before the branch", share=1.5
    ),
    FaultClass(name="kill the whole group", play=_everything, planted="publications are not recovered"),
    FaultClass(name="kill a step alone", play=_step_alone, planted="a killed step blames the candidate"),
)
