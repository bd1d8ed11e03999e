"""What a proposer may leave behind, and what is taken of it: real commands, real files."""

import json
import sys
import time
from pathlib import Path

import pytest

from expctl.adapters.proposers.command import ProposerCommand
from expctl.domain.brief.task import Task
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal_files import Draft
from expctl.domain.protocol.model import Environment
from expctl.domain.protocol.proposer import Proposer, Refusal
from expctl.domain.run.step_result import Failed

YAML = "id: P7\ntitle: t\nkind: perf\nhypothesis: h\nprediction: {verdict: KEEP}\n"
START = f"""
import json, os, sys, pathlib
told = json.load(sys.stdin)
home = pathlib.Path(told["scratch"], "experiments", "P7")
def leave(yaml={YAML!r}, patch="a patch"):
    home.mkdir()
    (home / "experiment.yaml").write_text(yaml)
    (home / "change.patch").write_text(patch)
"""


TASK = Task(brief="# Brief", scope=("src",), watched=("src", "bench"), next_id="P7")


@pytest.fixture
def command(tmp_path: Path) -> ProposerCommand:
    return ProposerCommand(tmp_path / "proposer", mark="test")


def ask(
    command: ProposerCommand, tmp_path: Path, code: str, brief: object = None, timeout_s: float = 20
) -> Draft | Failed | None:
    proposer = Proposer(argv=(sys.executable, "-c", START + code), timeout_s=timeout_s)
    return command.ask(proposer, brief or {}, TASK, cwd=tmp_path, environment=Environment())


def test_what_it_leaves_is_taken_as_it_is(command: ProposerCommand, tmp_path: Path) -> None:
    draft = ask(command, tmp_path, "leave()")
    assert isinstance(draft, Draft)
    assert (draft.proposal.id, draft.text, draft.patch) == ("P7", YAML.encode(), b"a patch")


def test_it_is_given_the_brief_however_large_and_what_was_refused(command: ProposerCommand, tmp_path: Path) -> None:
    command.tell(Refusal(id="P6", code="not-wanted", refused="no"))
    heard = tmp_path / "heard"
    answer = ask(command, tmp_path, f"open({str(heard)!r}, 'w').write(json.dumps(told))", {"long": "x" * 1_000_000})
    assert answer is None
    told = json.loads(heard.read_text())
    assert (len(told["brief"]["long"]), told["refused"]) == (1_000_000, [{"id": "P6", "code": "not-wanted", "refused": "no"}])
    command.tell(None)
    assert command.refusals() == ()


def test_a_proposal_of_the_call_before_is_not_taken_again(command: ProposerCommand, tmp_path: Path) -> None:
    ask(command, tmp_path, "leave()")
    assert ask(command, tmp_path, "") is None


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("leave(); home.with_name('P8').mkdir()", "2 entries: P7, P8"),
        ("home.with_name('..x').mkdir()", "which is not an id"),
        ("home.write_text('file')", "P7 is not a folder"),
        ("home.symlink_to('/etc')", "P7 is not a folder"),
        ("home.mkdir()", "P7 holds nothing"),
        ("leave(); (home / 'record.json').write_text('{}')", "holds change.patch, experiment.yaml, record.json"),
        ("leave(); (home / 'change.patch').unlink(); (home / 'change.patch').symlink_to('/etc/passwd')", "plain file"),
        ("leave(); (home / 'change.patch').unlink(); os.mkfifo(home / 'change.patch')", "change.patch is not a plain file"),
        ("leave(); (home / 'change.patch').unlink(); (home / 'change.patch').mkdir()", "change.patch is not a plain file"),
        ("leave(); os.truncate(home / 'change.patch', 10**9)", "has 1000000000 bytes, expected at most 16000000"),
        ("leave(); os.truncate(home / 'experiment.yaml', 10**6)", "expected at most 256000"),
        ("leave('id: P8' + chr(10))", "title: missing"),
        (f"leave({YAML!r}.replace('P7', 'P8'))", "expected P7, the name of its folder"),
        (f"leave({YAML!r} + 'depends_on: [P1.verdict ==]')", "expected a number or a word"),
        (f"leave({YAML!r}.replace('title: t', 'title: {chr(34)}a\\\\x1b[31mb{chr(34)}'))", "title: control"),
        (f"leave({YAML!r}.replace('hypothesis: h', 'hypothesis: {chr(34)}a\\\\u202eb{chr(34)}'))", "hypothesis: control"),
        ("import shutil; shutil.rmtree(home.parent)", "experiments: No such file"),
        ("d = home.parent; d.rmdir(); d.symlink_to('/etc')", "experiments is not a folder any more"),
    ],
)
def test_what_is_no_proposal_is_refused_in_words(command: ProposerCommand, tmp_path: Path, code: str, said: str) -> None:
    with pytest.raises(Refused) as caught:
        ask(command, tmp_path, code)
    assert said in caught.value.found


@pytest.mark.parametrize(
    ("code", "said"),
    [("sys.exit('no idea')", "exited with status 1 (no idea)"), ("os.kill(os.getpid(), 9)", "died of SIGKILL")],
)
def test_what_does_not_end_well_is_a_fault(command: ProposerCommand, tmp_path: Path, code: str, said: str) -> None:
    failed = ask(command, tmp_path, "leave()\n" + code)
    assert isinstance(failed, Failed)
    assert (failed.fault, said in failed.reason) == (True, True), failed


def test_a_hanging_one_is_ended(command: ProposerCommand, tmp_path: Path) -> None:
    started = time.monotonic()
    failed = ask(command, tmp_path, "import time; time.sleep(60)", timeout_s=0.5)
    assert isinstance(failed, Failed)
    assert "did not end within 0.5 s" in failed.reason
    assert time.monotonic() - started < 10


def test_one_that_cannot_be_started_is_a_fault(command: ProposerCommand, tmp_path: Path) -> None:
    failed = command.ask(Proposer(argv=("/no/such/agent",)), {}, TASK, cwd=tmp_path, environment=Environment())
    assert failed == Failed(reason="cannot start the proposer /no/such/agent: No such file or directory", fault=True)
