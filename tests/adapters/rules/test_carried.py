"""A patch for an older commit is carried to a newer one by a merge; where both change the same, it isn't."""

import os
from collections.abc import Mapping

import pytest

from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.rules.carried import carried
from tests.user_repository import Repository

KERNEL = "".join(f"line {number}\n" for number in range(12))
FASTER = KERNEL.replace("line 6\n", "fast\n")
FILES: Mapping[str, str | bytes] = {"src/k.h": KERNEL, "src/other.h": KERNEL, "src/table": b"\0\1\2"}
Contents = Mapping[str, str | bytes | None]
"""What becomes of files; None: it goes."""


def change(repository: Repository, contents: Contents) -> None:
    for path, text in contents.items():
        if text is None:
            (repository.root / path).unlink()
        else:
            repository.write(path, text)


def patch_of(repository: Repository, contents: Contents, *options: str) -> bytes:
    """A patch for HEAD that makes this of files, as git writes it with renames."""
    change(repository, contents)
    repository.git("add", "-A")
    patch = repository.git("diff", "--cached", "--binary", "-M", *options)
    repository.git("reset", "-q", "--hard")
    return patch.encode()


def carry(repository: Repository, contents: Contents, later: Contents) -> tuple[bytes | None, str]:
    """A patch for a first commit, carried to one in which this has become of its files; and that commit."""
    change(repository, FILES)
    base = repository.commit("base")
    patch = patch_of(repository, contents)
    change(repository, later)
    head = repository.commit("later")
    return carried(GitReader(locate(repository.root)), head, base, patch), head


def applied(repository: Repository, patch: bytes | None) -> dict[str, bytes]:
    assert patch is not None
    repository.git("apply", stdin=patch)
    return {path: text for path, text in repository.files().items() if path in FILES or path.endswith(".h")}


def test_what_stands_beside_it_may_have_changed(repository: Repository) -> None:
    head = KERNEL.replace("line 4\n", "a comment\n")
    patch, _ = carry(repository, {"src/k.h": FASTER}, {"src/k.h": head})
    assert applied(repository, patch)["src/k.h"].decode() == head.replace("line 6\n", "fast\n")


@pytest.mark.parametrize(
    ("contents", "later"),
    [
        ({"src/k.h": FASTER}, {"src/k.h": KERNEL.replace("line 6", "other")}),
        ({"src/k.h": FASTER}, {"src/k.h": None}),
        ({"src/k.h": FASTER}, {"src/k.h": None, "src/renamed.h": KERNEL}),
        ({"src/k.h": FASTER}, {"src/k.h": FASTER}),  # nothing is left of it
        ({"src/k.h": FASTER, "src/other.h": None}, {"src/other.h": FASTER}),
        ({"src/k.h": FASTER, "src/other.h": None}, {"src/other.h": None}),
        ({"src/k.h": FASTER, "src/new.h": "new\n"}, {"src/new.h": "another\n"}),
        ({"src/k.h": None, "src/renamed.h": FASTER}, {"src/k.h": KERNEL + "more\n"}),
        ({"src/table": b"\0\1\3"}, {"src/k.h": FASTER}),
        ({"src/k.h": FASTER}, {"src/k.h": KERNEL.encode().replace(b"line 4", b"\xe9")}),  # its context isn't text
    ],
)
def test_what_both_change_or_remove_is_not_carried(repository: Repository, contents: Contents, later: Contents) -> None:
    assert carry(repository, contents, later)[0] is None


@pytest.mark.parametrize(
    ("contents", "more"),
    [
        ({"src/new.h": "new\n"}, {"src/new.h": b"new\n"}),
        ({"src/other.h": None}, {"src/other.h": None}),
        ({"src/other.h": None, "src/renamed.h": FASTER}, {"src/other.h": None, "src/renamed.h": FASTER.encode()}),
    ],
)
def test_files_come_go_and_are_renamed(repository: Repository, contents: Contents, more: Mapping[str, bytes | None]) -> None:
    head = "a comment\n" + KERNEL.replace("line 4\n", "")
    patch, _ = carry(repository, {"src/k.h": FASTER, **contents}, {"src/k.h": head})
    wanted = {**{path: repository.root.joinpath(path).read_bytes() for path in FILES}, **more}
    wanted["src/k.h"] = head.replace("line 6\n", "fast\n").encode()
    assert applied(repository, patch) == {path: text for path, text in wanted.items() if text is not None}


def test_a_file_that_has_it_already_is_left_out(repository: Repository) -> None:
    patch, _ = carry(
        repository, {"src/k.h": FASTER, "src/other.h": FASTER}, {"src/k.h": FASTER, "src/other.h": "first\n" + KERNEL}
    )
    assert patch is not None
    assert b"src/k.h" not in patch
    assert applied(repository, patch)["src/other.h"].decode() == "first\n" + FASTER


def test_bytes_that_are_no_text_stay_what_they_are(repository: Repository) -> None:
    change(repository, {"src/k.h": KERNEL.encode() + b"\xe9\n"})
    base = repository.commit("base")
    patch = patch_of(repository, {"src/k.h": FASTER.encode() + b"\xe9\n"})
    change(repository, {"src/k.h": b"first\n" + KERNEL.replace("line 4\n", "").encode() + b"\xe9\n"})
    made = carried(GitReader(locate(repository.root)), repository.commit("later"), base, patch)
    assert applied(repository, made)["src/k.h"] == b"first\n" + FASTER.replace("line 4\n", "").encode() + b"\xe9\n"


def test_a_mode_is_that_of_the_commit(repository: Repository) -> None:
    change(repository, FILES)
    base = repository.commit("base")
    patch = patch_of(repository, {"src/k.h": FASTER})
    change(repository, {"src/k.h": KERNEL.replace("line 4\n", "")})
    (repository.root / "src/k.h").chmod(0o755)
    made = carried(GitReader(locate(repository.root)), repository.commit("later"), base, patch)
    applied(repository, made)
    assert os.access(repository.root / "src/k.h", os.X_OK)


def test_settings_and_attributes_of_the_repository_have_no_say(repository: Repository) -> None:
    repository.git("config", "merge.hostile.driver", f"touch {repository.root}/ran; cp %B %A")
    change(repository, {".gitattributes": "* merge=hostile\n"})
    other = KERNEL.replace("line 6", "other")
    assert carry(repository, {"src/k.h": FASTER}, {"src/k.h": other})[0] is None
    assert not (repository.root / "ran").exists()


@pytest.mark.parametrize("base", ["", "0" * 40])
def test_a_commit_that_is_not_here_is_the_base_of_nothing(repository: Repository, base: str) -> None:
    change(repository, FILES)
    head = repository.commit("base")
    patch = patch_of(repository, {"src/k.h": FASTER, "src/new.h": "new\n"})
    git = GitReader(locate(repository.root))
    assert carried(git, head, base, patch) is None
    assert carried(git, head, head, b"") is None
