"""A step that changes limits of expctl itself is its author's failure, and the limits come back."""

import resource
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.steps.builder import Builder
from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Build, Environment, Target, Toolchain
from expctl.domain.run.step_result import Failed
from expctl.domain.verdict.samples import Side
from expctl.launcher import containment
from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.own_limits import changed_limits, fix_limits
from expctl.targets.command import CommandRecipe
from tests.adapters.steps.test_runner import BENCHMARK, CASE, CHECKED, OK, SAY, WORKER, profile, step, try_out
from tests.fakes.run import FakeProgress

LIMITS = {
    "RLIMIT_CORE": (1 << 20, 0),
    "RLIMIT_NOFILE": (200, 4),
    "RLIMIT_FSIZE": (1 << 29, 0),
    "RLIMIT_DATA": (1 << 38, 1 << 37),
}
"""What the runner of these tests has, and what a step leaves of it, by the name of the limit."""
MEDDLES = """
import os, resource
at, number = os.getppid(), resource.{name}
resource.prlimit(at, number, ({limit}, resource.prlimit(at, number)[1]))
"""


class Steps:
    """Each kind of step, with a script that begins by `code`. Each returns what becomes of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.runner = StepRunner(environment=Environment(), scratch=folder / "s", mark="m", experiment="P1")

    def build(self, code: str) -> object:
        argv = ("{python}", "-c", f"import sys\n{code}open(sys.argv[1], 'w').write('code')", "{artifact}")
        target = Target(build=Build(toolchain=Toolchain.COMMAND, argv=argv, artifact="a", timeout_s=20))
        recipes = {Toolchain.COMMAND: CommandRecipe()}
        made = Builder(recipes, state=self.folder / "state", environment=Environment(), mark="m", machine="m")
        (self.folder / "tree").mkdir()
        return made.build("cpu", target, tree=self.folder / "tree", sources=code)

    def test(self, code: str) -> object:
        return try_out(self.runner, code + CASE + OK, self.folder)

    def benchmark(self, code: str) -> object:
        worker = WORKER.replace("TIME", "pass").replace("END", OK).replace("CHECK", CHECKED)
        asked = replace(BENCHMARK, argv=("{python}", "-c", SAY + code + worker, "{artifact}"))
        builds = {side: (self.folder / side.value,) for side in Side}
        return self.runner.measure(asked, cwd=self.folder, artifacts=builds, round=1, progress=FakeProgress())

    def profile(self, code: str) -> object:
        return profile(self.runner, step(code + OK), self.folder)


@pytest.fixture
def steps(tmp_path: Path) -> Iterator[Steps]:
    before = {name: resource.getrlimit(getattr(resource, name)) for name in LIMITS}
    for name, (own, _) in LIMITS.items():
        resource.setrlimit(getattr(resource, name), (own, before[name][1]))
    fix_limits()
    made = Steps(tmp_path)
    yield made
    made.runner.close()
    for name, limits in before.items():
        resource.setrlimit(getattr(resource, name), limits)
    fix_limits()


@pytest.mark.parametrize("name", LIMITS)
@pytest.mark.parametrize("kind", [Steps.build, Steps.test, Steps.benchmark, Steps.profile], ids=lambda kind: kind.__name__)
def test_it_is_found_and_undone_where_no_filter_stops_it(
    steps: Steps, kind: Callable[[Steps, str], object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = replace(detect_capabilities(), filters_calls=False, own_processes=False)
    monkeypatch.setattr(containment, "detect_capabilities", lambda: here)
    own, left = LIMITS[name]
    found = kind(steps, MEDDLES.format(name=name, limit=left))
    assert isinstance(found, Failed), found
    assert not found.fault
    assert found.reason.endswith(f"changed limits of expctl itself: {name}")
    assert resource.getrlimit(getattr(resource, name))[0] == own
    assert changed_limits() == ()


def test_a_step_that_leaves_them_alone_passes(steps: Steps) -> None:
    assert not isinstance(steps.test(""), Failed)
