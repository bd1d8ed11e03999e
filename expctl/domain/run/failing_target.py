"""Finds the target on which a candidate failed, from the events of the run."""

from expctl.domain.run.events import Tested
from expctl.domain.run.resource_limits import exceeded
from expctl.domain.run.state_machine import Run
from expctl.domain.verdict.samples import Side


def failing_target(run: Run) -> str:
    """Return the first target on which the build, a resource limit or the test failed; if none, the target that is timed."""
    for name in run.targets():
        if run.build_failure(Side.CANDIDATE, name) is not None:
            return name
    for name, limits in run.roles.limits.items():
        candidate = run.artifact(Side.CANDIDATE, name)
        if candidate is not None and exceeded(limits, run.artifact(Side.BASELINE, name), candidate):
            return name
    failed = next((tested for tested in run.all(Tested) if not tested.ok and not tested.fault), None)
    return (failed.target if failed else "") or run.begun().target
