"""A step that changes limits of expctl itself is its author's failure, and the limits come back."""

import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.adapters.steps.runner import StepRunner
from expctl.domain.protocol.model import Environment
from expctl.domain.run.step_result import Failed
from expctl.launcher import containment
from expctl.launcher.capabilities import detect_capabilities
from expctl.launcher.own_limits import changed_limits, fix_limits
from tests.adapters.steps.test_runner import CASE, OK, try_out

MEDDLES = "import os, resource; resource.prlimit(os.getppid(), resource.RLIMIT_CORE, (0, resource.RLIM_INFINITY))\n"


@pytest.fixture
def limits(tmp_path: Path) -> Iterator[StepRunner]:
    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (1 << 20, before[1]))
    fix_limits()
    made = StepRunner(environment=Environment(writable=(str(tmp_path),)), scratch=tmp_path / "s", mark="m", experiment="P1")
    yield made
    made.close()
    resource.setrlimit(resource.RLIMIT_CORE, before)
    fix_limits()


def test_it_is_found_and_undone_where_no_filter_stops_it(
    limits: StepRunner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    here = replace(detect_capabilities(), filters_calls=False, own_processes=False)
    monkeypatch.setattr(containment, "detect_capabilities", lambda: here)
    found = try_out(limits, MEDDLES + CASE + OK, tmp_path)
    assert isinstance(found, Failed)
    assert not found.fault
    assert found.reason.endswith("changed limits of expctl itself: RLIMIT_CORE")
    assert resource.getrlimit(resource.RLIMIT_CORE)[0] == 1 << 20
    assert changed_limits() == ()


def test_a_step_that_leaves_them_alone_passes(limits: StepRunner, tmp_path: Path) -> None:
    assert not isinstance(try_out(limits, CASE + OK, tmp_path), Failed)
