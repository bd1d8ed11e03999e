"""Where a candidate failed: the target whose code was rejected, read from the events of its run."""

from expctl.domain.events import Tested
from expctl.domain.lifecycle import Run
from expctl.domain.measurement import Side
from expctl.domain.protocol import Protocol, Target
from expctl.domain.resources import exceeded


def judged_target(run: Run) -> str:
    """The first target that did not build, that broke its limits or its test; else the deciding one, by its times."""
    for name in run.targets():
        if run.build_failure(Side.CANDIDATE, name) is not None:
            return name
    for name, limits in run.course.limits.items():
        candidate = run.artifact(Side.CANDIDATE, name)
        if candidate is not None and exceeded(limits, run.artifact(Side.BASELINE, name), candidate):
            return name
    failed = next((tested for tested in run.all(Tested) if not tested.ok and not tested.fault), None)
    return (failed.target if failed else "") or run.begun().target


def architecture_of(name: str, target: Target) -> str:
    """What a target's machine code is for; a target that names no architecture is called like its own."""
    return target.build.arch or name


def architectures(protocol: Protocol, names: tuple[str, ...]) -> frozenset[str]:
    """What the targets `names` judge, the hardware that they stand for included."""
    chosen = {name: protocol.targets[name] for name in names}
    home = {each.stands_for for each in chosen.values() if each.stands_for}
    return frozenset({*home, *(architecture_of(name, each) for name, each in chosen.items())})
