"""Changes applied again without an earlier one, by real git: neighbouring lines, renames, binaries, merges, odd names."""

import os
from random import Random

import pytest

from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.run.step_result import Failed
from tests.user_repository import Repository

SCOPE = ("src",)
FILE = "src/kernel.txt"


class Stack:
    """Commits on top of a first one; each gives some files their new contents."""

    def __init__(self, repository: Repository, **first: str) -> None:
        self.repository, self.commits = repository, list[str]()
        for path, text in first.items():
            repository.write(f"src/{path}.txt", text)
        self.first = repository.commit("the first")
        self.workspace = GitWorkspace(locate(repository.root))

    def add(self, **files: str | bytes | None) -> None:
        for path, text in files.items():
            if text is None:
                (self.repository.root / f"src/{path}.txt").unlink()
            else:
                self.repository.write(f"src/{path}.txt", text)
        self.commits.append(self.repository.commit(f"change {len(self.commits)}"))

    def without(self, left_out: int) -> str | int:
        """The tree of HEAD without one change, or the number of the first that can't be applied without it."""
        watched = [*self.repository.git("for-each-ref", "--format=%(objectname)").split(), self.repository.status()]
        tree = self.workspace.tree_with("HEAD", f"{self.commits[left_out]}^", SCOPE)
        answer: str | int = tree
        for number in range(left_out + 1, len(self.commits)):
            applied = self.workspace.reapplied_tree(tree, self.commits[number], SCOPE)
            if isinstance(applied, Failed):
                answer = number
                break
            answer = tree = applied
        assert [*self.repository.git("for-each-ref", "--format=%(objectname)").split(), self.repository.status()] == watched
        return answer

    def file(self, tree: str | int, path: str) -> str:
        assert isinstance(tree, str), f"change {tree} is in the way"
        return self.repository.git("show", f"{tree}:src/{path}.txt")


def lines(**values: int) -> str:
    return "".join(f"{name} = {value}\n" + "".join(f"  {name} {n}\n" for n in range(6)) for name, value in values.items())


def test_a_change_that_touches_what_two_earlier_ones_did_is_in_the_way_of_both(repository: Repository) -> None:
    stack = Stack(repository, k=lines(a=1, b=1, c=1))
    stack.add(k=lines(a=2, b=1, c=1))
    stack.add(k=lines(a=2, b=2, c=1))
    stack.add(k=lines(a=3, b=3, c=1))
    stack.add(k=lines(a=3, b=3, c=2))
    assert [stack.without(n) if isinstance(stack.without(n), int) else "rebuilt" for n in range(4)] == [
        2,
        2,
        "rebuilt",
        "rebuilt",
    ]
    assert stack.file(stack.without(2), "k") == lines(a=2, b=2, c=2)


def test_neighbouring_lines_are_not_merged_by_guessing(repository: Repository) -> None:
    """Git can't tell in which order two lines side by side belong: that is a dependency, not a merge."""
    stack = Stack(repository, k="one\ntwo\nthree\n")
    stack.add(k="ONE\ntwo\nthree\n")
    stack.add(k="ONE\nTWO\nthree\n")
    assert stack.without(0) == 1


def test_lines_that_moved_are_found_where_they_are(repository: Repository) -> None:
    stack = Stack(repository, k=lines(a=1, b=1))
    stack.add(k="more\n" * 40 + lines(a=1, b=1))
    stack.add(k="more\n" * 40 + lines(a=1, b=2))
    assert stack.file(stack.without(0), "k") == lines(a=1, b=2)


def test_a_change_of_a_file_that_another_renamed_follows_it_or_is_in_the_way(repository: Repository) -> None:
    stack = Stack(repository, k=lines(a=1, b=1))
    stack.add(k=None, moved=lines(a=1, b=1))
    stack.add(moved=lines(a=1, b=2))
    found = stack.without(0)
    assert found == 1 or stack.file(found, "k") == lines(a=1, b=2)


def test_a_binary_file_is_taken_whole_or_is_in_the_way(repository: Repository) -> None:
    stack = Stack(repository, k="text\n")
    stack.add(table=bytes(range(256)))
    stack.add(table=bytes(range(255, -1, -1)))
    stack.add(k="other text\n")
    assert stack.without(0) == 1
    tree = stack.without(1)
    assert isinstance(tree, str)
    assert repository.git("ls-tree", tree, "src/table.txt") == repository.git("ls-tree", stack.commits[0], "src/table.txt")


def test_the_same_change_made_twice_is_there_after_one_is_left_out(repository: Repository) -> None:
    stack = Stack(repository, k=lines(a=1, b=1))
    stack.add(k=lines(a=2, b=1))
    stack.add(k=lines(a=1, b=1))
    stack.add(k=lines(a=2, b=2))
    assert stack.file(stack.without(0), "k") == lines(a=2, b=2)


def test_an_executable_bit_and_odd_names_survive(repository: Repository) -> None:
    stack = Stack(repository, k="text\n")
    stack.add(k="other\n")
    stack.add(**{"ein Name\tmit ä": "odd\n"})
    (repository.root / "src/run.txt").write_text("#!/bin/sh\n")
    os.chmod(repository.root / "src/run.txt", 0o755)
    stack.add()
    tree = stack.without(0)
    assert isinstance(tree, str)
    assert repository.git("ls-tree", tree, "src/run.txt").startswith("100755")
    assert repository.git("show", f"{tree}:src/ein Name\tmit ä.txt") == "odd\n"
    assert stack.file(tree, "k") == "text\n"


def test_a_merge_is_one_change_against_its_first_parent(repository: Repository) -> None:
    stack = Stack(repository, k=lines(a=1, b=1), other=lines(x=1))
    stack.add(k=lines(a=2, b=1))
    repository.git("checkout", "-q", "-b", "side", stack.first)
    repository.write("src/other.txt", lines(x=2))
    repository.commit("beside")
    repository.write("src/k.txt", lines(a=1, b=2))
    repository.commit("beside again")
    repository.git("checkout", "-q", "main")
    repository.git("merge", "-q", "--no-ff", "-m", "merge", "side")
    stack.commits.append(repository.head())
    assert stack.commits == list(stack.workspace.commits_touching(stack.first, repository.head(), SCOPE))
    tree = stack.without(0)
    assert (stack.file(tree, "k"), stack.file(tree, "other")) == (lines(a=1, b=2), lines(x=2))
    tree = stack.without(1)
    assert (stack.file(tree, "k"), stack.file(tree, "other")) == (lines(a=2, b=1), lines(x=1))


def test_what_a_change_did_beside_the_scope_stays(repository: Repository) -> None:
    stack = Stack(repository, k="text\n")
    repository.write("notes.txt", "with the change\n")
    stack.add(k="other\n")
    stack.add(more="more\n")
    tree = stack.without(0)
    assert stack.file(tree, "k") == "text\n"
    assert repository.git("show", f"{tree}:notes.txt") == "with the change\n"


def test_a_users_settings_for_merges_change_nothing(repository: Repository) -> None:
    stack = Stack(repository, k="one\ntwo\nthree\n")
    stack.add(k="ONE\ntwo\nthree\n")
    stack.add(k="ONE\nTWO\nthree\n")
    repository.git("config", "merge.conflictStyle", "zdiff3")
    repository.git("config", "rerere.enabled", "true")
    repository.git("config", "merge.renames", "false")
    assert stack.without(0) == 1


@pytest.mark.parametrize("seed", range(8))
def test_any_stack_on_places_far_apart_is_rebuilt_or_the_next_change_of_a_place_is_named(
    repository: Repository, seed: int
) -> None:
    """By the words: a change depends on an earlier one if it changes again what that changed."""
    draw = Random(seed)
    values = dict.fromkeys("abcdef", 0)
    stack = Stack(repository, k=lines(**values))
    changed: list[list[str]] = []
    history = [dict(values)]
    for number in range(1, 8):
        places = draw.sample("abcdef", draw.choice([1, 1, 2]))
        values |= dict.fromkeys(places, 10 * number)
        stack.add(k=lines(**values))
        changed.append(places)
        history.append(dict(values))
    for left_out in range(7):
        later = [n for n in range(left_out + 1, 7) if set(changed[n]) & set(changed[left_out])]
        found = stack.without(left_out)
        if later:
            assert found == later[0], (left_out, changed)
        else:
            back = {place: history[left_out][place] for place in changed[left_out]}
            assert stack.file(found, "k") == lines(**{**values, **back})
