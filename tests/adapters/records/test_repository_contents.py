"""What is said of a commit whose protocol can't be read."""

from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.records.replay_outcome import mend_of
from expctl.adapters.records.repository_contents import GitLibrary
from tests.refusals import refuses
from tests.user_repository import Repository


def test_a_commit_that_a_shallow_clone_lacks_is_told_from_one_without_a_protocol(repository: Repository) -> None:
    library = GitLibrary(GitReader(locate(repository.root)))
    with refuses("protocol-missing") as caught:
        library.protocol(repository.head())
    assert mend_of(caught.value) == ""
    with refuses("commit-not-here") as caught:
        library.protocol("1" * 40)
    assert "--unshallow" in mend_of(caught.value)
