"""Children that fork daemons, ignore TERM and write without end, and a profiler that hangs."""

from tests.faults.fault_lab import KERNEL, VARIANTS, Scene, killed_in_round
from tests.faults.trial import FaultClass, Story, Trial

DISK_BYTES_MAX = 64 << 20
GONE_S = 5.0
WILD = """#!/bin/sh
# A test that leaves a daemon, ignores TERM and writes until it is ended.
trap '' INT TERM HUP
(setsid sh -c 'trap "" INT TERM HUP; while :; do sleep 1; done' &)
while :; do printf '%0100000d' 0; done
"""


def _wild(scene: Scene) -> None:
    """The test of the candidate goes wild: its kernel says so."""
    lab = scene.lab
    script = f'"{scene.root}/bench/wild", "{{artifact}}", "{lab.standin}"'
    scene.write(
        "bench/wild", WILD.replace("trap ''", f'[ "$(cat "$1")" = {KERNEL.strip()} ] && exec "$2" test "$1"\ntrap \'\'', 1)
    )
    (scene.root / "bench" / "wild").chmod(0o755)
    scene.write("protocol.yaml", lab.protocol(test=script).replace("timeout_s: 30", "timeout_s: 1"))
    scene.git("add", "bench/wild", "protocol.yaml")
    scene.git("commit", "-q", "-m", "a wild test", "--", "bench", "protocol.yaml")
    scene.propose("P4", scene.patch("40\n"))


def _hanging(scene: Scene) -> None:
    lab = scene.lab
    profile = f'    profile: {{argv: ["{lab.standin}", profile, "{{artifact}}", hang], timeout_s: 0.3}}\n'
    scene.write("protocol.yaml", lab.protocol(profile=profile))
    scene.git("commit", "-q", "-m", "a profiler that hangs", "--", "protocol.yaml")
    scene.propose("P4", scene.patch("40\n"))


def _late_hanging(scene: Scene) -> None:
    _hanging(scene)
    killed_in_round("P4", 8)(scene)


VARIANTS.update(wild=_wild, hanging=_late_hanging)


def _wild_child(trial: Trial) -> Story:
    story = trial.begin("first wild", "P4", "REJECT")
    attempt = story.run()
    used = sum(path.stat().st_size for path in story.scene.state.rglob("*") if path.is_file())
    if used > DISK_BYTES_MAX:
        story.say(f"5: {used >> 20} MiB of output are left")
    if attempt.wall_s > 1.0 + GONE_S + story.expected.plain_s:
        story.say(f"7: it took {attempt.wall_s:.1f} s to be rid of the child")
    return story


def _hanging_profiler(trial: Trial) -> Story:
    story = trial.begin("first hanging", "P4", "KEEP")
    story.run()
    if "did not end" not in "".join(story.scene.record_field("P4", "profile") or []):
        story.say("9: the record doesn't say that the profiler hung")
    return story


CHILDREN = (
    FaultClass(name="daemons, ignored TERM, endless output", play=_wild_child, planted="orphans stay", share=0.15),
    FaultClass(name="hanging profiler", play=_hanging_profiler, planted="a profiler has all the time", share=0.4),
)
