"""YAML that was read before: the same values, another document is read anew, and what is damaged is read again."""

from pathlib import Path

import pytest

from expctl.adapters.codec import strict_yaml
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.index.record_index import RecordIndex
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.experiment.finding import Finding
from expctl.domain.experiment.proposal import Proposal
from expctl.domain.protocol.model import Protocol
from tests.adapters.index.test_record_index import altered
from tests.refusals import refuses
from tests.user_repository import Repository

HERE = Path(__file__).parents[3]


class Watched:
    """Counts the documents that strict YAML reads."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.read = 0
        plain = strict_yaml._plain

        def counted(text: bytes, where: str) -> object:
            self.read += 1
            return plain(text, where)

        monkeypatch.setattr(strict_yaml, "_plain", counted)


@pytest.fixture
def reader(repository: Repository) -> GitReader:
    for file in (HERE / "protocol.yaml", HERE / "experiments/findings.yaml", *HERE.glob("experiments/*/experiment.yaml")):
        repository.write(str(file.relative_to(HERE)), file.read_bytes())
    repository.commit()
    return GitReader(locate(repository.root))


def test_of_a_proposal_that_cannot_be_read_nothing_is_kept_and_the_others_are(
    reader: GitReader, repository: Repository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository.write("experiments/P98/experiment.yaml", b"id: [\n")
    repository.write("experiments/P99/experiment.yaml", b"id: P99\nkind: fast\nmode: quick\n")
    repository.commit()
    file, watched = tmp_path / "records.sqlite", Watched(monkeypatch)
    for read in (everything(reader, file), everything(reader, file), everything(reader, file)):
        watched.read = 0
        assert {"P98", "P99"}.isdisjoint(each.id for each in read[1])
    everything(reader, file)
    assert watched.read == 2
    library, head = GitLibrary(reader, RecordIndex(reader, file)), reader.head()
    first, second = library.malformed(head, library.waiting(head))
    assert (first.id, second.id, len(second.problems)) == ("P98", "P99", 5)
    assert first.why.startswith("experiments/P98/experiment.yaml: not YAML: ")


def everything(reader: GitReader, file: Path) -> tuple[Protocol, tuple[Proposal, ...], tuple[Finding, ...]]:
    library, head = GitLibrary(reader, RecordIndex(reader, file)), reader.head()
    return (library.protocol(head), library.some_proposals(head, library.waiting(head)), library.findings(head))


def test_from_the_second_command_on_nothing_is_read_as_yaml(
    reader: GitReader, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, watched = tmp_path / "records.sqlite", Watched(monkeypatch)
    first = everything(reader, file)
    assert everything(reader, file) == first  # now there is an index from the start
    watched.read = 0
    assert everything(reader, file) == first
    assert watched.read == 0
    altered(file, "update documents set plain = '{'")
    assert everything(reader, file) == first
    assert watched.read > 2


def test_another_document_is_read_and_a_faulty_one_is_refused_every_time(
    reader: GitReader, repository: Repository, tmp_path: Path
) -> None:
    file = tmp_path / "records.sqlite"
    for _ in range(2):
        everything(reader, file)
    text = (HERE / "protocol.yaml").read_text()
    repository.write("protocol.yaml", text.replace("version: 1", "version: 2"))
    repository.commit()
    for _ in range(2):
        with refuses("file-contradicts-itself"):
            everything(reader, file)
    repository.write("protocol.yaml", text.replace("quiet_s: 0.5", "quiet_s: 0.75"))
    repository.commit()
    assert everything(reader, file)[0].gate.quiet_s == 0.75
