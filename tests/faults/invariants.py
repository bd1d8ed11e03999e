"""The nine invariants, checked on what lies on the disk after a trial and at most two resumes."""

import json
import os
import re
import subprocess
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from expctl.adapters.codec.record_codec import samples_of
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.errors import Refused
from expctl.domain.experiment.record import Record
from expctl.domain.ledger.inputs import LedgerInputs
from expctl.domain.verdict.decide_again import UnplayableError, replayed, was_decided_by_samples
from expctl.domain.verdict.samples import MalformedRound
from expctl.flow.repository.ledger_inputs import read_ledger_inputs
from expctl.views.ledger.document import render
from expctl.wiring import mark_of
from tests.faults.fault_lab import Attempt, Scene

RESUME_S = 2.0
# What expctl may write of the user's tree.
WRITTEN = ("src/kernel", "src/configs/", "experiments/", "ledger.md", "results/", "AGENTS.md", ".agents/")
BUG = 3
CONCLUDED, REFUSED, BUSY, INTERRUPTED = 0, 1, 75, 130


@dataclass(frozen=True, slots=True, kw_only=True)
class UserState:
    """What is the user's: files, index, stash and what `git status` says, but for what the tool may write."""

    files: Mapping[str, tuple[int, bytes]]
    index: tuple[str, ...]
    stash: str
    status: tuple[str, ...]
    head: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What the trial is held to. `verdicts` are those that are true here, the fault-free one first; none: there is no record.

    `user` is the user's state from before the trial, or from after the last thing that they did; `old` the branch's head then.
    `plain_s` is how long the whole command takes where nothing disturbs it; `may_be_unclean` what `git status`
    may say of the files that expctl writes.
    """

    experiment: str
    verdicts: tuple[str, ...]
    user: UserState
    old: str
    plain_s: float
    branch: str = "main"
    may_be_unclean: tuple[str, ...] = ()
    resumes: int = 2


def user_state(scene: Scene, lines: Sequence[str] | None = None) -> UserState:
    """The user's work as it is now. `lines` are those of `git status`, where they are known."""
    files = {}
    for folder, folders, names in os.walk(scene.root):
        if folder == str(scene.root):
            folders.remove(".git")
        for name in names:
            path = Path(folder, name)
            relative = str(path.relative_to(scene.root))
            if not relative.startswith(WRITTEN):
                files[relative] = (path.lstat().st_mode, path.read_bytes())
    index = tuple(line for line in scene.git("ls-files", "-s", "-z").split("\0") if not _is_written(line.partition("\t")[2]))
    stash = scene.ref("refs/stash")
    status = tuple(line for line in (lines or _status_lines(scene)) if not _is_written(line[3:]))
    head = (scene.root / ".git" / "HEAD").read_text()
    return UserState(files=files, index=index, stash=stash, status=status, head=head)


def _status_lines(scene: Scene) -> list[str]:
    return scene.git("status", "--porcelain", "-z", "--untracked-files=all").split("\0")


def _is_written(path: str) -> bool:
    return path.startswith(WRITTEN)


def violations(scene: Scene, expected: Expected) -> tuple[str, ...]:
    """One sentence for each invariant that does not hold, with its number first."""
    head = scene.ref(f"refs/heads/{expected.branch}")
    if not head:
        return ("2: the branch is gone",)
    try:
        return _violations(scene, expected, head)
    except Refused as refusal:
        return (f"1: what is committed can't be read: {refusal}",)


def _violations(scene: Scene, expected: Expected, head: str) -> tuple[str, ...]:
    git = GitReader(locate(scene.root))
    library = GitLibrary(git)
    inputs = read_ledger_inputs(library, head)
    records = {each.id: each for each in library.records(head)}
    record = records.get(expected.experiment)
    return (
        *_acknowledged(scene, expected, records),
        *_history(scene, expected, head, record),
        *_user(scene, expected),
        *_ledger(git, head, inputs),
        *_leftovers(scene),
        *_verdict(scene, expected, head, record, library),
        *_in_time(scene, expected),
        *_tested(scene, record),
        *_statuses(scene, expected.experiment, record),
    )


def _acknowledged(scene: Scene, expected: Expected, records: Mapping[str, Record]) -> Iterator[str]:
    """(1) Whoever was told of a record finds it; so does whoever had one before."""
    before = scene.git("ls-tree", "-r", "--name-only", expected.old, "experiments").split()
    for name in (path.split("/")[1] for path in before if path.endswith("/record.json")):
        if name not in records:
            yield f"1: the record of {name} is gone"
    told = [each for each in scene.attempts if each.status == CONCLUDED and expected.experiment in each.words[1:]]
    if told and expected.experiment not in records and expected.verdicts:
        yield "1: a record was acknowledged and is not there"


def _history(scene: Scene, expected: Expected, head: str, record: Record | None) -> Iterator[str]:
    """(2) One commit per KEEP with its id, none per REJECT; the branch is where it was, or beyond it."""
    text = scene.git("log", "--format=%H%x00%B%x00%x01", f"{expected.old}..{head}")
    entries = [each.strip("\n").split("\0")[:2] for each in text.split("\x01") if each.strip()]
    own = [(commit, body) for commit, body in entries if re.search(r"^Expctl-(Id|Record|Queue)", body, re.M)]
    records = [body for _, body in own if f"\nExpctl-Record: {expected.experiment}\n" in body + "\n"]
    landed = [commit for commit, body in own if f"\nExpctl-Id: {expected.experiment}\n" in body + "\n"]
    wanted = {"KEEP": 1}.get(record.verdict if record else "", 0)
    if len(landed) != wanted:
        yield f"2: {len(landed)} kernel commits of a {record.verdict if record else 'run without a record'}"
    if len(records) != (record.attempts if record else 0):
        yield f"2: {len(records)} record commits of {record.attempts if record else 0} attempts"
    if head != expected.old and scene.git("merge-base", expected.old, head, check=False).strip() != expected.old:
        yield "2: the branch left its own history"
    if (
        record is not None
        and wanted
        and scene.git("rev-parse", f"{head}:src").strip() == scene.git("rev-parse", f"{expected.old}:src").strip()
    ):
        yield "2: a KEEP that changed nothing"


def _user(scene: Scene, expected: Expected) -> Iterator[str]:
    """(3) A sound repository, and the user's tree, index and stash as they were."""
    ended = subprocess.run(
        ["git", "fsck", "--no-dangling", "--strict"], cwd=scene.root, env=scene.environment, capture_output=True, text=True
    )
    if ended.returncode or ended.stdout:
        yield f"3: git fsck: {(ended.stdout + ended.stderr).strip()[:300]}"
    lines = _status_lines(scene)
    now, then = user_state(scene, lines), expected.user
    if now.files != then.files:
        changed = sorted(name for name in {*now.files, *then.files} if now.files.get(name) != then.files.get(name))
        yield f"3: the user's files changed: {', '.join(changed)}"
    left = tuple(line for line in lines if _is_written(line[3:]))
    if set(left) - set(expected.may_be_unclean):
        yield f"3: what expctl wrote is not what is committed: {left}"
    for part in ("index", "stash", "status", "head"):
        if getattr(now, part) != getattr(then, part):
            yield f"3: the user's {part} changed: {getattr(then, part)} -> {getattr(now, part)}"


def _ledger(git: GitReader, head: str, inputs: LedgerInputs) -> Iterator[str]:
    """(4) ledger.md is the rendering of the records."""
    written = git.read_file(head, "ledger.md")
    if written is not None and written != render(inputs.ledger()).encode():
        yield "4: ledger.md is not the rendering of the records"


def _leftovers(scene: Scene) -> Iterator[str]:
    """(5) No process, lock or worktree of ours."""
    mark = f"EXPCTL_RUN={mark_of(locate(scene.root))}".encode()
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and mark in (entry / "environ").read_bytes().split(b"\0"):
                yield f"5: process {entry.name} is left: {(entry / 'cmdline').read_bytes()[:80]!r}"
        except OSError:
            continue
    git = scene.root / ".git"
    locks = [path for path in git.rglob("*.lock") if path.is_file()]
    left = [*locks, *(git / "worktrees").glob("*"), *scene.state.glob("checkouts/*"), *scene.state.glob("publication.*")]
    left += [*scene.state.glob("journal/*.jsonl"), *scene.state.rglob(".*.new")]
    for path in left:
        yield f"5: {path.relative_to(scene.root)} is left"
    lock = scene.state / "lock"
    if lock.exists() and lock.read_bytes():
        yield f"5: the repository's lock still names {lock.read_bytes()[:80]!r}"


def _verdict(scene: Scene, expected: Expected, head: str, record: Record | None, library: GitLibrary) -> Iterator[str]:
    """(6) The verdict of undisturbed rounds, and of these very samples; no round twice."""
    if record is None or not expected.verdicts:
        if expected.verdicts:
            yield "6: no verdict after the resumes"
        elif record is not None:
            yield f"6: a verdict {record.verdict} where there is nothing to decide"
        return
    if record.verdict not in expected.verdicts:
        yield f"6: {record.verdict} instead of {' or '.join(expected.verdicts)}: {'; '.join(record.reasons)}"
    text = scene.git("cat-file", "blob", f"{head}:experiments/{record.id}/samples.jsonl", check=False)
    seen = Counter((each["round"], each["side"], each["size"]) for each in map(json.loads, text.splitlines()))
    if any(each.get("round_ms", 0) < 0 for each in map(json.loads, text.splitlines())):
        yield "6: a round took less than no time"
    twice = [key for key, times in seen.items() if times > 1]
    if twice:
        yield f"6: counted twice: {twice[:3]}"
    rounds = {key[0] for key in seen}
    if rounds != set(range(len(rounds))):
        yield f"6: rounds are missing: {sorted(rounds)}"
    protocol, proposal = library.protocol(head), next(iter(library.some_proposals(head, [record.id])))
    target = protocol.targets[record.target]
    if record.buckets:
        return  # its sides are configs, of sizes that protocol.yaml doesn't name: `replay` is asked by the class
    if not was_decided_by_samples(record) or target.benchmark is None:
        return
    if record.procedure is None:
        yield "6: the record doesn't say by which procedure its samples decided"
        return
    try:
        samples = samples_of(text.encode(), where="samples.jsonl")
        again = replayed(record.procedure, proposal.kind, samples, target.benchmark, protocol.keep)
    except (UnplayableError, MalformedRound) as error:
        yield f"6: the samples don't decide: {error}"
        return
    if again.parts != {name: getattr(record, name) for name in again.parts}:
        yield f"6: the samples say {again.parts['verdict']}, {again.parts['reasons']}; the record {record.verdict}"


def _in_time(scene: Scene, expected: Expected) -> Iterator[str]:
    """(7) A resume takes at most two seconds more than measuring, and two of them are enough."""
    hurt = [number for number, each in enumerate(scene.attempts) if each.fired]
    resumes = scene.attempts[hurt[-1] + 1 :] if hurt else []
    for each in resumes:
        if each.wall_s > expected.plain_s + RESUME_S:
            yield f"7: a resume took {each.wall_s:.1f} s where the whole command takes {expected.plain_s:.1f} s"
    # A kill that was planned for a call that never came makes a whole run of a resume; what came after it was not needed.
    needed = next((number for number, each in enumerate(resumes, 1) if each.status == 0), len(resumes))
    if needed > expected.resumes:
        yield f"7: {needed} resumes were needed"
    if any(each.status is None for each in scene.attempts):
        yield "7: a command did not end"


def _tested(scene: Scene, record: Record | None) -> Iterator[str]:
    """(8) A KEEP is of the artifact that passed the test: the build copies the kernel, and the test says which it saw."""
    if record is None or record.verdict != "KEEP":
        return
    kernel = scene.git("cat-file", "blob", f"{record.candidate}:src/kernel", check=False)
    if record.test is None or not record.test.ok:
        yield "8: a KEEP without a passed test"
    elif not record.test.summary.endswith(f"worst kernel {int(kernel or 0):.4g}"):
        yield f"8: the test passed another artifact: {record.test.summary}; the kernel is {kernel.strip()}"


def _statuses(scene: Scene, experiment: str, record: Record | None) -> Iterator[str]:
    """(9) The exit status tells the truth, and never that it is a bug."""
    runs = [each for each in scene.attempts if each.words[:2] == ("run", experiment)]
    for each in scene.attempts:
        if each not in runs and each.words[0] != "doctor":
            yield from _status(each, None)
    for number, each in enumerate(runs, 1):
        was_replaced = number < len(runs) and re.search(r"\bINVALID\b", each.said)  # the next run was a new attempt
        yield from _status(each, None if was_replaced else record)
    if record is None and CONCLUDED in [each.status for each in runs]:
        yield "9: exit status 0 without a record"


def _status(attempt: Attempt, record: Record | None) -> Iterator[str]:
    said, status = attempt.said, attempt.status
    if status == BUG or "BUG:" in said:
        yield f"9: it says that it is a bug: {said[-700:]}"
    elif status in (REFUSED, BUSY) and ("Error [" not in said or "\n  next " not in said):
        yield f"9: status {status} without a reason and what to do: {said[-300:]}"
    elif status == INTERRUPTED and "Interrupted" not in said:
        yield f"9: status {status} without an interruption: {said[-300:]}"
    elif status == CONCLUDED and record is not None:
        if not re.search(rf"\b{record.verdict}\b", said):
            yield f"9: it said {said[-200:]!r}, the record says {record.verdict}"
    elif status not in (CONCLUDED, REFUSED, BUSY, INTERRUPTED, None) and status is not None and status >= 0:
        yield f"9: exit status {status}: {said[-300:]}"


def since(expected: Expected, scene: Scene) -> Expected:
    """As `expected`, after the user has done something."""
    return replace(expected, user=user_state(scene))
