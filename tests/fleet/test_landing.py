"""Results that land together: as if each had landed alone, but for one commit instead of several; all of them or none."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import NamedTuple

import pytest
from msgspec.structs import replace

from benchmarks.fleet.made_up import attempts_at, context_of
from benchmarks.scale.generate import generate
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.run.events import Begun, Invalidated, Pinned
from expctl.flow.fleet.landing import Attempt, land, land_together
from expctl.flow.repository.ledger_inputs import read_ledger
from expctl.views.ledger.document import render

MINE = "?? notes\n"
STEPS = {"rename", "replace", "link", "unlink", "fsync", "fork_exec", "posix_spawn", "mkdir", "rmdir", "flock"}


class Stage(NamedTuple):
    """A repository with a history of eight records, and attempts at its queued experiments, all of which end as REJECT."""

    root: Path
    attempts: tuple[Attempt, ...]

    def copy(self, folder: Path) -> "Stage":
        shutil.copytree(self.root, folder, symlinks=True)
        return Stage(folder, self.attempts)

    def git(self, *words: str) -> str:
        return subprocess.run(["git", *words], cwd=self.root, check=True, capture_output=True, text=True).stdout

    def records(self) -> dict[str, dict[str, object]]:
        """The records of the attempts that HEAD has, without what depends on the moment."""
        context = context_of(self.root)
        names, head = [each.assigned.id for each in self.attempts], context.workspace.head()
        found = {name: context.library.record(head, name) for name in names}
        return {name: json.loads(context.record_bytes(replace(each, date=""))) for name, each in found.items() if each}

    def check(self, names: list[str]) -> None:
        """Each of `names` has one record, told once; ledger, index and files are those of HEAD, and nothing is left."""
        assert [*self.records()] == names
        told = self.git("log", "--format=%(trailers:key=Expctl-Record,valueonly)").split()
        assert sorted(told) == sorted(names)
        context = context_of(self.root)
        head = context.workspace.head()
        for name in names:
            record = context.library.record(head, name)
            assert record is not None
            assert self.git("rev-parse", f"refs/expctl/{name}").strip() == record.candidate
        ledger = context.workspace.read_file(head, "ledger.md")
        assert ledger == render(read_ledger(context.library, head)).encode()
        assert self.git("status", "--porcelain") == MINE
        assert self.git("fsck", "--no-dangling", "--strict") == ""
        state = self.root / ".git" / "expctl"
        assert [*state.glob("journal/*"), *state.glob("publication.*"), *(self.root / ".git").glob("*.lock")] == []
        assert [*self.root.rglob(".*.new")] == []


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    folder = tmp_path_factory.mktemp("landing")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HOME", str(folder))
        patch.setenv("EXPCTL_LOCK_DIR", str(folder))
        generate(folder / "repository", experiments=8, queued=4, findings=2, seed=1)
        made = Stage(folder / "repository", tuple(attempts_at(folder / "repository")))
        (made.root / "notes").write_text("mine\n")
        yield made


def test_what_lands_together_is_what_would_land_alone(stage: Stage, tmp_path: Path) -> None:
    together, alone = stage.copy(tmp_path / "together"), stage.copy(tmp_path / "alone")
    names, before = [each.assigned.id for each in stage.attempts], stage.git("rev-parse", "HEAD")
    context = context_of(together.root)
    found = land_together(context, stage.attempts)
    assert [each.record.verdict for each in found.values()] == [Verdict.REJECT] * len(names)
    assert [*found] == names
    assert together.git("rev-parse", "HEAD^") == before
    assert {each.head_after for each in found.values()} == {context.workspace.head()}
    for each in stage.attempts:
        land(context_of(alone.root), each)
    together.check(names)
    alone.check(names)
    assert together.records() == alone.records()
    listing = "ls-tree", "-r", "--name-only", "HEAD"
    assert together.git(*listing) == alone.git(*listing)
    assert together.git("show", "HEAD:ledger.md") == alone.git("show", "HEAD:ledger.md")
    for path in together.git(*listing).splitlines():
        if path.endswith(".jsonl"):
            assert together.git("show", f"HEAD:{path}") == alone.git("show", f"HEAD:{path}")
    message = together.git("log", "-1", "--format=%B")
    assert message.startswith(f"{', '.join(f'{name} REJECT' for name in names[:3])} and 1 more\n\n{names[0]} REJECT on here: ")
    verdicts = together.git("log", "-1", "--format=%(trailers:key=Expctl-Verdict,valueonly)").split()
    assert verdicts == ["REJECT"] * len(names)
    assert [land(context, each) for each in stage.attempts] == [None] * len(names)
    assert land_together(context, stage.attempts) == {}


def test_one_that_is_not_as_it_was_measured_lands_not_and_the_others_do(stage: Stage, tmp_path: Path) -> None:
    here = stage.copy(tmp_path / "here")
    odd = stage.attempts[1]
    run = tuple(replace(event, content="0" * 64) if isinstance(event, Begun) else event for event in odd.run)
    attempts = [stage.attempts[0], replace(odd, run=run), *stage.attempts[2:]]
    context = context_of(here.root)
    names = [each.assigned.id for each in attempts if each.assigned.id != odd.assigned.id]
    assert [*land_together(context, attempts)] == names
    with pytest.raises(Refused) as refused:
        land(context, attempts[1])
    assert refused.value.code == "proposal-changed-after-begin"
    here.check(names)


def test_a_keep_lands_alone(stage: Stage, tmp_path: Path) -> None:
    here = stage.copy(tmp_path / "here")
    attempts = [*attempts_at(here.root, slower_percent=-3.0)[:1], *stage.attempts[1:]]
    names = [each.assigned.id for each in attempts]
    assert [*land_together(context_of(here.root), attempts)] == names[1:]
    here.check(names[1:])


def test_an_invalid_result_lands_once_and_the_next_attempt_does_too(stage: Stage, tmp_path: Path) -> None:
    here = stage.copy(tmp_path / "here")
    first = stage.attempts[0]
    begun, pinned = (next(event for event in first.run if isinstance(event, kind)) for kind in (Begun, Pinned))
    invalid = replace(first, run=(begun, pinned, Invalidated(reason="the driver fell over")))
    context = context_of(here.root)
    landed = land(context, invalid)
    assert landed is not None
    assert landed.record.verdict is Verdict.INVALID
    assert land(context_of(here.root), invalid) is None, "a head that was killed before it forgot the attempt"
    head = context.workspace.head()
    assigned = replace(first.assigned, base=head)  # under the same number, as a head gives it that knows of no attempt
    again = replace(invalid, assigned=assigned, run=(replace(begun, base=head), Invalidated(reason="the driver fell over")))
    landed = land(context_of(here.root), again)
    assert landed is not None
    assert landed.record.attempts == 2


def test_a_file_of_the_user_in_the_way_is_kept_and_nothing_lands(stage: Stage, tmp_path: Path) -> None:
    here = stage.copy(tmp_path / "here")
    (here.root / "ledger.md").write_text("mine\n")
    with pytest.raises(Refused) as refused:
        land_together(context_of(here.root), stage.attempts)
    assert refused.value.code == "own-files-not-committed"
    assert (here.root / "ledger.md").read_text() == "mine\n"
    assert here.records() == {}


def test_each_of_several_takes_one_process_of_git(stage: Stage, tmp_path: Path) -> None:
    started = [0, 0]
    for at, count in enumerate((2, 4)):
        context = context_of(stage.copy(tmp_path / str(count)).root)

        def watch(_frame: FrameType, event: str, function: object, at: int = at) -> None:
            started[at] += event == "c_call" and getattr(function, "__name__", "") in ("fork_exec", "posix_spawn")

        sys.setprofile(watch)
        land_together(context, stage.attempts[:count])
        sys.setprofile(None)
    assert started[1] - started[0] <= 2, started


def land_killed(stage: Stage, step: int = 0) -> int:
    """Land all in a process that kills itself before so many of its calls that change or start something (0: never). Return how
    many there were.
    """
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        called = [0]

        def watch(_frame: FrameType, event: str, function: object) -> None:
            if event == "c_call" and getattr(function, "__name__", "") in STEPS:
                called[0] += 1
                if called[0] == step:
                    os.kill(os.getpid(), signal.SIGKILL)

        try:
            context = context_of(stage.root)
            sys.setprofile(watch)
            land_together(context, stage.attempts)
            sys.setprofile(None)
            os.write(writer, str(called[0]).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as told:
        found = told.read()
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert ended in (0, -signal.SIGKILL if step else 0)  # one call more or less is made
    return int(found or step)


def test_a_head_that_is_killed_has_landed_all_or_nothing(stage: Stage, tmp_path: Path, long: bool) -> None:
    """Before each call that changes something on the disk, or starts a process; else before some of them, most near the end."""
    names, steps = [each.assigned.id for each in stage.attempts], land_killed(stage.copy(tmp_path / "whole"))
    assert steps > 50
    seen = set()
    for step in range(1, steps + 1) if long else sorted({*range(1, steps, steps // 6), *range(steps - 16, steps + 1)}):
        here = stage.copy(tmp_path / "here")
        land_killed(here, step)
        landed = [*here.records()]
        assert landed in ([], names), f"step {step} of {steps}"
        seen.add(len(landed))
        context = context_of(here.root)
        again = land_together(context, here.attempts)
        assert [*again] == ([] if landed else names), f"step {step} of {steps}"
        assert [land(context, each) for each in here.attempts] == [None] * len(names)
        here.check(names)
        shutil.rmtree(here.root)
    assert seen == {0, len(names)}
