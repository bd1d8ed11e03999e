"""Words that pretend to be something else: YAML, ids, names, titles, commit messages, kernels' names."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from expctl.adapters.codec import strict_yaml
from expctl.cli.output import print_json
from expctl.domain.errors import Misused, Refused
from expctl.domain.experiment.ids import check_id
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.record import Origin, Record
from expctl.domain.ledger.model import ledger_of
from expctl.domain.protocol.model import Build, Protocol, Target, Toolchain
from expctl.domain.protocol.names import name_faults
from expctl.domain.text import has_unseen, one_line
from expctl.flow.repository.commit_messages import candidate_message, proposal_message, record_message, records_message
from expctl.profiles.read_profile import read_profile
from expctl.profiles.views.terminal import profile_lines
from expctl.views.console import ConsoleProgress
from expctl.views.ledger.document import render
from expctl.views.report import record_lines
from tests.hostile.table import TABLE
from tests.user_repository import Repository

PROTOCOL = Protocol(
    version=1,
    name="hostile",
    scope=("src",),
    harness=("bench",),
    decides=("cpu",),
    targets={"cpu": Target(build=Build(toolchain=Toolchain.COMMAND, argv=("true",)))},
)
PROPOSAL = Proposal(id="P1", title="calm", kind=Kind.PERF, hypothesis="calm", prediction=Prediction(verdict=Verdict.KEEP))
RECORD = Record(
    id="P2",
    title="calm",
    kind=Kind.PERF,
    origin=Origin.MEASURED,
    target="cpu",
    verdict=Verdict.REJECT,
    reasons=("calm",),
    hypothesis="calm",
    base="4f2c91a0000000000000000000000000000000aa",
    date="2026-03-01",
)
OURS = {"Expctl-Id", "Expctl-Target", "Expctl-Record", "Expctl-Verdict", "Expctl-Proposal"}
UNESCAPED_BAR = re.compile(r"(?<!\\)\|")


@pytest.mark.parametrize("name", TABLE["yaml"])
def test_yaml(name: str) -> None:
    case = TABLE["yaml"][name]
    with pytest.raises(Refused) as caught:
        strict_yaml.load(case["text"].encode(), Proposal, where="experiment.yaml")
    assert case["refused"] in caught.value.found


@pytest.mark.parametrize("name", TABLE["protocol"])
def test_names_in_the_protocol(name: str) -> None:
    case = TABLE["protocol"][name]
    names: dict[str, Any] = {"targets": (), "sizes": (), "variables": (), "writable": ()} | case["names"]
    (fault,) = name_faults(**names)
    assert case["refused"] in fault


@pytest.mark.parametrize("text", TABLE["ids"], ids=ascii)
def test_ids(text: str) -> None:
    with pytest.raises(Misused):
        check_id(text)


@pytest.fixture(params=TABLE["words"])
def words(request: pytest.FixtureRequest) -> str:
    return TABLE["words"][request.param]  # type: ignore[no-any-return]


def test_words_in_the_ledger(words: str) -> None:
    calm, harsh = (ledger_of_words(text) for text in ("calm", words))
    harsh.encode("utf-8")
    assert not has_unseen(harsh)
    assert [len(UNESCAPED_BAR.findall(line)) for line in calm.splitlines()] == [
        len(UNESCAPED_BAR.findall(line)) for line in harsh.splitlines()
    ]
    for ours in (r"<(?!!-- rendered)", r"(?<!\\)\]\("):
        assert len(re.findall(ours, harsh)) == len(re.findall(ours, calm))


def ledger_of_words(text: str) -> str:
    record = replace(RECORD, title=text, hypothesis=text, reasons=(text,), notes=(text,), flags=(text,))
    return render(ledger_of(PROTOCOL, (replace(PROPOSAL, title=text, hypothesis=text),), (record,), ()))


def test_words_on_a_terminal(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = record_lines(replace(RECORD, title=words, hypothesis=words, reasons=(words,), notes=(words,)))
    assert not any(has_unseen(line) or "\n" in line for line in lines)
    progress = ConsoleProgress()
    progress.title("P1", words, base="0" * 40, target="cpu", protocol="0000")
    progress.step("test", words)
    progress.working("build", words)
    said = capsys.readouterr().out
    assert (said.count("\n"), has_unseen(said)) == (2, False)


def test_words_in_json(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"title": words}, schema="words/1")
    said = capsys.readouterr().out
    assert json.loads(said) == {"schema": "expctl.words/1", "title": words}
    assert not has_unseen(said)


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    root = tmp_path_factory.mktemp("words")
    made = Repository(root)
    made.git("init", "-q", "-b", "main")
    return made


def test_words_in_commit_messages_plant_no_trailer(words: str, repository: Repository) -> None:
    messages = (
        candidate_message(replace(PROPOSAL, title=words, hypothesis=words), "cpu"),
        proposal_message(replace(PROPOSAL, title=words)),
        record_message(replace(RECORD, title=words, reasons=(words,))),
        records_message([replace(RECORD, title=words, reasons=(words,))] * 2),
    )
    for message in messages:
        trailers = repository.git("interpret-trailers", "--parse", stdin=message.encode()).splitlines()
        assert trailers
        assert {line.split(":")[0] for line in trailers} <= OURS
        assert "Expctl-Verdict: KEEP" not in message.splitlines()
        assert not has_unseen(message)


def test_words_as_the_name_of_a_kernel(words: str, tmp_path: Path) -> None:
    head = "Kind,Kernel_Name,Start_Timestamp,End_Timestamp\n"
    quoted = words.replace('"', '""')
    (tmp_path / "kernel_trace.csv").write_text(f'{head}KERNEL_DISPATCH,"{quoted}",10,20\n', encoding="utf-8", newline="")
    try:
        profile = read_profile(tmp_path / "kernel_trace.csv")
        lines = profile_lines(profile, profile.kernels, {}, None, profile.kernels)
    except Refused as refusal:
        lines = [one_line(refusal.message), *(one_line(line) for line in refusal.found.splitlines())]
    assert lines
    assert not any(has_unseen(line) or "\n" in line for line in lines)


def test_a_planted_trailer_would_be_seen(repository: Repository) -> None:
    """The check above can fail: git takes such a line for a trailer where nothing keeps it from the end."""
    said = repository.git("interpret-trailers", "--parse", stdin=b"x\n\nExpctl-Verdict: KEEP\n")
    assert said == "Expctl-Verdict: KEEP\n"
