"""Bytes of a journal flipped, and the clock set back."""

import re
from dataclasses import replace

from tests.faults.shim import Calls, PairedBy, Plan
from tests.faults.trial import LATE, FaultClass, Story, Trial

YEAR_S = 366 * 24 * 3600


def _flipped(trial: Trial) -> Story:
    """One bit, anywhere: refused, naming the line and `expctl doctor`, which names the command that mends it. A last line whose
    end is gone was never written, and is healed.
    """
    experiment = "P1" if trial.number % 8 == 7 else "P2"  # it starts over, and a KEEP takes long
    stage, verdict = LATE[experiment]
    story = trial.begin(stage, experiment, verdict)
    scene = story.scene
    file = scene.state / "journal" / f"{experiment}.jsonl"
    whole = file.read_bytes()
    at = trial.one_of(len(whole)) - 1
    damaged = bytearray(whole)
    damaged[at] ^= 1 << trial.draw.randrange(8)
    file.write_bytes(damaged)
    if at == len(whole) - 1:
        story.resume()
        return story
    line = whole.count(b"\n", 0, at) + 1
    story.refused("expctl doctor")
    if f"line {line}" not in scene.attempts[-1].said:
        story.say(f"9: line {line} is not named: {scene.attempts[-1].said[-300:]}")
    if file.read_bytes() != damaged:
        story.say("1: what can't be read was changed")
    doctor = scene.run("doctor")
    mend = re.search(r"^ +next +mv (\S+) (\S+)", doctor.said, re.M)
    if doctor.status != 1 or mend is None or f"line {line}" not in doctor.said:
        story.say(f"9: doctor doesn't say what is wrong and how to mend it: {doctor.status} {doctor.said[-500:]}")
    else:
        (scene.root / mend[1]).rename(scene.root / mend[2])
    story.resume()
    return story


def _clock_back(trial: Trial) -> Story:
    """A year, at any call by which the runner writes: most are requests to the benchmark."""
    story = trial.begin("first slower", "P2", "REJECT")
    plan = trial.kth("first slower", "P2", Plan(by=PairedBy.RUNNER, kinds=Calls.WRITE))
    story.run(replace(plan, clock_shift_s=-YEAR_S))
    return story


DAMAGE = (
    FaultClass(name="journal bytes flipped", play=_flipped, planted="checksums are not looked at"),
    FaultClass(name="clock set back", play=_clock_back, planted="durations by the time of day", share=0.7),
)
