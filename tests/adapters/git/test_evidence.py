"""What the history says of a record, and of what it was measured on."""

from expctl.adapters.git.evidence import GitEvidence
from expctl.adapters.git.reader import locate
from tests.user_repository import Repository

RECORD = "experiments/P1/record.json"


def test_a_record_that_took_the_place_of_an_invalid_one_is_found(repository: Repository) -> None:
    repository.write(RECORD, '{"verdict": "INVALID"}\n')
    repository.commit("P1 INVALID")
    repository.write("src/kernel", "faster\n")
    candidate = repository.commit("P1")
    repository.write(RECORD, '{"verdict": "KEEP"}\n')
    kept = repository.commit("P1 KEEP")
    repository.write("README.md", "words\n")
    head = repository.commit("something else")
    evidence = GitEvidence(locate(repository.root))
    assert evidence.brought_by(head, RECORD, candidate) == kept
    assert evidence.brought_by(head, RECORD, head) == ""
    assert evidence.brought_by(head, "experiments/P2/record.json", candidate) == ""
