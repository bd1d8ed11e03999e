"""Power cuts at any call: what was never flushed is gone, torn, or there in part."""

from dataclasses import replace

from tests.faults.power_cut import Loss, cut
from tests.faults.shim import Act, Plan
from tests.faults.trial import LATE, FaultClass, Play, Story, Trial

ENDED = 8  # one trial of so many


def _cut(loss: Loss) -> Play:
    def play(trial: Trial) -> Story:
        experiment = trial.draw.choice(("P1", "P2"))
        stage, verdict = LATE[experiment]
        story = trial.begin(stage, experiment, verdict)
        plan = replace(trial.kth(stage, experiment, Plan(act=Act.KILL_BOTH)), logs=True)
        if trial.number % ENDED == 0:  # the cut comes after the end: what was acknowledged stays
            plan = replace(plan, at=0)
        running = story.start(plan)
        ended = running.wait()
        acknowledged = story.scene.record_field(
            experiment, "verdict"
        )  # INVALID where a worker within its walls was killed alone
        story.scene.lab.cut_power(stage, running, lambda root, log: cut(root, log, loss, trial.draw))
        if ended.status == 0 and story.scene.record_field(experiment, "verdict") != acknowledged:
            story.say("1: a record was acknowledged, and the cut took it")
        story.resume()
        return story

    return play


POWER = (
    FaultClass(name="power cut, dropped", play=_cut(Loss.DROPPED), planted="nothing is flushed", share=1.5),
    FaultClass(name="power cut, torn", play=_cut(Loss.TORN), planted="nothing is flushed", share=1.5),
    FaultClass(name="power cut, reordered", play=_cut(Loss.REORDERED), planted="nothing is flushed", share=1.5),
)
