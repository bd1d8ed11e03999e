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
from expctl.adapters.proposers.agent import draft_in, scratch_check_out
from expctl.adapters.proposers.agent_usage import usage_of
from expctl.adapters.proposers.left_files import misplaced, read_left
from expctl.adapters.records.proposal_file import proposal_of
from expctl.domain.brief.task import Task
from expctl.domain.errors import Refused
from expctl.domain.experiment.ids import ID_PATTERN
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.protocol.model import Environment
from expctl.domain.protocol.proposer import Leaves, Proposer, Refusal
from expctl.domain.queue.night import Usage
from expctl.domain.run.step_result import Failed
from expctl.domain.text import has_unseen, one_line
from expctl.files import atomic_write

SCHEMA = 1
REMEMBERED = 20
INPUT = "input"
TITLE_MAX, TEXT_MAX = 200, 4_000
"""Characters, as `expctl mcp` takes them."""
LIMITS = {"experiment.yaml": BYTES_MAX, "change.patch": 16_000_000}


class ProposerCommand:
    """Runs commands that write proposals. `folder` holds input, log and scratch folder of the last call, and refusals."""

    def __init__(self, folder: Path, *, mark: str) -> None:
        self._folder, self._mark = folder, mark
        self._usage = Usage()

    def ask(
        self, proposer: Proposer, brief: object, task: Task, *, cwd: Path, environment: Environment, call: int = 0
    ) -> Draft | Failed | None:
        """Run a proposer's command in `cwd` with `brief` as JSON on standard input; one that leaves a diff, in a copy of it and
        with `task` as text. Return its proposal, None if it left none, Failed if the command failed. `call` is the number of
        calls of this campaign before. Raises Refused if it left anything but one proposal.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in self._folder.glob("scratch-*"):
            atomic_write.remove_tree(old)
        scratch = Path(tempfile.mkdtemp(prefix="scratch-", dir=self._folder))
        (scratch / "experiments").mkdir()
        is_agent = proposer.leaves is Leaves.DIFF
        said = {"schema": SCHEMA, "scratch": str(scratch), "refused": encode(self.refusals()), "brief": encode(brief)}
        text = task.text(str(scratch), self.refusals()) if is_agent else json.dumps(said, ensure_ascii=True)
        atomic_write.replace(self._folder / INPUT, text.encode(errors="replace"))
        self._usage = Usage()
        failed = self._run(proposer, scratch_check_out(scratch, cwd) if is_agent else cwd, environment, scratch, call)
        self._usage = usage_of(scratch, self._folder / "log")
        try:
            draft = draft_in(scratch, cwd, task) if is_agent and not failed else None
            if draft is not None:
                _check_words(draft.proposal)
            return failed or (draft if is_agent else _draft(scratch / "experiments"))
        except OSError as error:
            raise misplaced(f"{Path(str(error.filename)).name}: {error.strerror}") from error

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

    def usage(self) -> Usage:
        """Return what the last call has cost, as the command reports it."""
        return self._usage

    def _run(self, proposer: Proposer, cwd: Path, environment: Environment, scratch: Path, call: int) -> Failed | None:
        own = {"EXPCTL_SCRATCH": str(scratch), "EXPCTL_CALL": str(call)}
        words = {"{python}": sys.executable, "{scratch}": str(scratch)}
        home, log = self._folder / "home", self._folder / "log"
        log.unlink(missing_ok=True)
        launch = Launch(
            argv=fill(proposer.argv, words),
            cwd=cwd,
            environment=child_environment(environment, home, self._mark) | _users(proposer) | own,
            log=log,
            input=self._folder / INPUT,
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


def _users(proposer: Proposer) -> dict[str, str]:
    """Return the variables of the user that this proposer gets."""
    names = (*(["HOME"] if proposer.users_home else []), *proposer.pass_through)
    return {name: os.environ[name] for name in names if name in os.environ}


def _draft(folder: Path) -> Draft | None:
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise misplaced(f"{folder.name} is not a folder any more")
    names = sorted(entry.name for entry in os.scandir(folder))
    if not names:
        return None
    if len(names) > 1:
        raise misplaced(f"{len(names)} entries: {', '.join(one_line(name, 40) for name in names[:5])}")
    (name,) = names
    home = folder / name
    if not ID_PATTERN.fullmatch(name):
        raise misplaced(f"the name {one_line(name, 60)!r}, which is not an id such as P15")
    if not stat.S_ISDIR(os.lstat(home).st_mode):
        raise misplaced(f"{name} is not a folder", name)
    left = {entry.name for entry in os.scandir(home)}
    if left != set(LIMITS):
        raise misplaced(f"{name} holds {', '.join(one_line(each, 40) for each in sorted(left)[:6]) or 'nothing'}", name)
    text, patch = (read_left(home / each, limit, name) for each, limit in LIMITS.items())
    try:
        proposal = proposal_of(text, f"experiments/{name}")
    except Refused as refusal:
        refusal.hint = "write it without these faults into the scratch folder of the next call"
        raise
    _check_words(proposal)
    return Draft(proposal=proposal, text=text, patch=patch)


def _check_words(proposal: Proposal) -> None:
    words = {
        "title": proposal.title,
        "hypothesis": proposal.hypothesis,
        "precondition": proposal.precondition,
        "prediction.text": proposal.prediction.text,
    }
    faults = [f"{key}: control, ANSI, bidi or invisible characters" for key, text in words.items() if has_unseen(text)]
    long = [
        f"{key}: {len(text)} characters, expected at most {TITLE_MAX if key == 'title' else TEXT_MAX}"
        for key, text in words.items()
        if len(text) > (TITLE_MAX if key == "title" else TEXT_MAX)
    ]
    if long:
        raise Refused(
            f"{proposal.id} has more words than anybody reads",
            code="words-too-long",
            expected="words for a table and a page",
            found="\n".join(long),
            where=f"experiments/{proposal.id}/experiment.yaml",
            hint="say it shorter",
        )
    if faults:
        raise Refused(
            f"{proposal.id} has characters that can't be seen",
            code="words-not-visible",
            expected="plain text",
            found="\n".join(faults),
            where=f"experiments/{proposal.id}/experiment.yaml",
            hint="write it again without these characters",
        )
