"""Ask a proposer, which is any command, for a proposal; only the two files that it is asked to write are read."""

import json
import os
import stat
import sys
import tempfile
import time
from pathlib import Path

from expctl.adapters.child.arguments import child_environment, fill
from expctl.adapters.child.contained_process import Child, Gone, Launch, TimedOut, Unkillable, log_tail
from expctl.adapters.codec.decode import Problems, decode, encode
from expctl.adapters.codec.strict_yaml import BYTES_MAX
from expctl.adapters.records.proposal_file import proposal_of
from expctl.domain.errors import Refused
from expctl.domain.experiment.ids import ID_PATTERN
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.protocol.model import Environment
from expctl.domain.protocol.proposer import Proposer, Refusal
from expctl.domain.run.step_result import Failed
from expctl.domain.text import has_unseen, one_line
from expctl.files import atomic_write

SCHEMA = 1
REMEMBERED = 20
LIMITS = {"experiment.yaml": BYTES_MAX, "change.patch": 16_000_000}
LAYOUT = (
    "experiments/ID/experiment.yaml and experiments/ID/change.patch in the scratch folder, and nothing else below experiments"
)


class ProposerCommand:
    """Runs commands that write proposals. `folder` holds input, log and scratch folder of the last call, and refusals."""

    def __init__(self, folder: Path, *, mark: str) -> None:
        self._folder, self._mark = folder, mark

    def ask(self, proposer: Proposer, brief: object, *, cwd: Path, environment: Environment) -> Draft | Failed | None:
        """Run a proposer's command in `cwd` with `brief` as JSON on standard input. Return its proposal, None if it wrote none,
        Failed if the command failed. Raises Refused if it wrote anything but one proposal.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob("scratch-*"):
            atomic_write.remove_tree(old)
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self._folder))
        (scratch / "experiments").mkdir()
        said = {"schema": SCHEMA, "scratch": str(scratch), "refused": encode(self.refusals()), "brief": encode(brief)}
        atomic_write.replace(self._folder / "brief.json", json.dumps(said, ensure_ascii=True).encode())
        failed = self._run(proposer, cwd, environment, scratch)
        try:
            return failed or _draft(scratch / "experiments")
        except OSError as error:
            raise _misplaced(f"{Path(str(error.filename)).name}: {error.strerror}") from error

    def refusals(self) -> tuple[Refusal, ...]:
        """Return the last refused proposals with their reasons, at most 20, oldest first; none if they can't be read."""
        try:
            raw = json.loads((self._folder / "refused.json").read_bytes())
        except (OSError, ValueError):
            return ()
        problems = Problems()
        found: tuple[Refusal, ...] | None = decode(raw, tuple[Refusal, ...], problems)
        return found or ()

    def tell(self, refusal: Refusal | None) -> None:
        """Store a refused proposal with its reason, for `refusals` to return; None (one was accepted) deletes the stored."""
        kept = (*self.refusals(), refusal)[-REMEMBERED:] if refusal is not None else ()
        atomic_write.replace(self._folder / "refused.json", json.dumps(encode(kept)).encode())

    def _run(self, proposer: Proposer, cwd: Path, environment: Environment, scratch: Path) -> Failed | None:
        words = {"{python}": sys.executable, "{scratch}": str(scratch)}
        home, log = self._folder / "home", self._folder / "log"
        log.unlink(missing_ok=True)
        launch = Launch(
            argv=fill(proposer.argv, words),
            cwd=cwd,
            environment=child_environment(environment, home, self._mark) | {"EXPCTL_SCRATCH": str(scratch)},
            log=log,
            input=self._folder / "brief.json",
        )
        try:
            with Child(launch) as child:
                status = child.wait(time.monotonic() + proposer.timeout_s)
        except TimedOut:
            return Failed(reason=f"the proposer did not end within {proposer.timeout_s:g} s{log_tail(log)}", fault=True)
        except (Gone, Unkillable) as error:
            return Failed(reason=f"the proposer {error}", fault=True)
        except OSError as error:
            return Failed(reason=f"cannot start the proposer {proposer.argv[0]}: {error.strerror}", fault=True)
        return Failed(reason=f"the proposer {child.fate()}{log_tail(log)}", fault=True) if status else None


def _draft(folder: Path) -> Draft | None:
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise _misplaced(f"{folder.name} is not a folder any more")
    names = sorted(entry.name for entry in os.scandir(folder))
    if not names:
        return None
    if len(names) > 1:
        raise _misplaced(f"{len(names)} entries: {', '.join(one_line(name, 40) for name in names[:5])}")
    (name,) = names
    home = folder / name
    if not ID_PATTERN.fullmatch(name):
        raise _misplaced(f"the name {one_line(name, 60)!r}, which is not an id such as P15")
    if not stat.S_ISDIR(os.lstat(home).st_mode):
        raise _misplaced(f"{name} is not a folder", name)
    left = {entry.name for entry in os.scandir(home)}
    if left != set(LIMITS):
        raise _misplaced(f"{name} holds {', '.join(one_line(each, 40) for each in sorted(left)[:6]) or 'nothing'}", name)
    text, patch = (_contents(home / each, limit, name) for each, limit in LIMITS.items())
    try:
        proposal = proposal_of(text, f"experiments/{name}")
    except Refused as refusal:
        refusal.hint = "write it without these faults into the scratch folder of the next call"
        raise
    _check_words(proposal)
    return Draft(proposal=proposal, text=text, patch=patch)


def _contents(path: Path, limit: int, name: str) -> bytes:
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise _misplaced(f"{path.name} can't be opened as a plain file: {error.strerror}", name) from error
    try:
        facts = os.fstat(descriptor)
        if not stat.S_ISREG(facts.st_mode):
            raise _misplaced(f"{path.name} is not a plain file", name)
        if facts.st_size > limit:
            raise _misplaced(f"{path.name} has {facts.st_size} bytes, expected at most {limit}", name)
        with open(descriptor, "rb", closefd=False) as file:
            return file.read(limit)
    finally:
        os.close(descriptor)


def _check_words(proposal: Proposal) -> None:
    words = {
        "title": proposal.title,
        "hypothesis": proposal.hypothesis,
        "precondition": proposal.precondition,
        "prediction.text": proposal.prediction.text,
    }
    faults = [f"{key}: control, ANSI, bidi or invisible characters" for key, text in words.items() if has_unseen(text)]
    if faults:
        raise Refused(
            f"{proposal.id} has characters that can't be seen",
            code="words-not-visible",
            expected="plain text",
            found="\n".join(faults),
            where=f"experiments/{proposal.id}/experiment.yaml",
            hint="write it again without these characters",
        )


def _misplaced(found: str, name: str = "") -> Refused:
    return Refused(
        "the proposer did not write exactly one proposal",
        code="proposer-left-no-proposal",
        expected=LAYOUT,
        found=found,
        where=f"experiments/{name}" if name else "experiments",
        hint="docs/QUEUE.md of expctl shows the files that a proposer writes",
    )
