"""TERM, INT, HUP and STOP at any call."""

import signal
from dataclasses import replace

from tests.faults.fault_kills import STOP
from tests.faults.shim import Act, Plan
from tests.faults.trial import LATE, FaultClass, Play, Story, Trial


def _signalled(number: signal.Signals) -> Play:
    def play(trial: Trial) -> Story:
        experiment = trial.draw.choice(("P1", "P2"))
        stage, verdict = LATE[experiment]
        story = trial.begin(stage, experiment, verdict)
        plan = trial.kth(stage, experiment, Plan(act=Act.SIGNAL_RUNNER, number=number))
        if story.run(plan).status != 0:
            story.resume()
        return story

    return play


def _stopped(trial: Trial) -> Story:
    """Who is stopped isn't dead: a second runner is told so, and the first goes on as if nothing had been."""
    experiment = trial.draw.choice(("P1", "P2"))
    stage, verdict = LATE[experiment]
    story = trial.begin(stage, experiment, verdict)
    running = story.start(trial.kth(stage, experiment, replace(STOP)))
    if running.until_stopped():
        story.run()
        running.go_on()
    if running.wait().status != 0:
        story.resume()
    return story


SIGNALS = (
    FaultClass(
        name="TERM", play=_signalled(signal.SIGTERM), planted="an abort tidies up as if the branch had not moved", share=1.5
    ),
    FaultClass(name="INT", play=_signalled(signal.SIGINT), planted="INT ends the process and says that all is well"),
    FaultClass(name="HUP", play=_signalled(signal.SIGHUP), planted="an abort tidies up as if the branch had not moved"),
    FaultClass(name="STOP", play=_stopped, planted="no lock of the repository"),
)
