"""Ids of several patches, asked of git at once, are those that it says of each alone."""

import subprocess
from pathlib import Path

from expctl.adapters.git.patch_header import with_headers
from expctl.adapters.git.patch_ids import patch_ids
from tests.user_repository import KERNEL, Repository

HASH = b"4" * 40


def git_says(root: Path, text: bytes) -> bytes:
    return subprocess.run(["git", "patch-id", "--stable"], cwd=root, input=text, check=True, capture_output=True).stdout


def asked_alone(root: Path, patch: bytes) -> str:
    words = git_says(root, with_headers(patch)).split()
    return words[0].decode() if words else ""


def test_ids_of_several_are_those_of_each(repository: Repository) -> None:
    calls = []

    def ask(text: bytes) -> bytes:
        calls.append(text)
        return git_says(repository.root, text)

    plain = repository.patch("src/kernel.txt", KERNEL.replace(b"three", b"3"))
    other = repository.patch("src/kernel.txt", KERNEL.replace(b"three", b"33"))
    mail = b"From " + HASH + b" Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n" + other + b"-- \n2.39.5\n\n"
    patches = [
        plain,
        b"",
        plain.rstrip(b"\n"),
        plain + b"\\ No newline at end of file\n",
        other,
        b"no patch\n",
        other[: other.index(b"--- a/")] + b"GIT binary patch\nliteral 1\nIcmZ\n\nliteral 0\nHcmV?d00001\n\n",
        plain[plain.index(b"--- a/") :],
        b"\n".join(plain.split(b"\n")[:-3]),
        plain + b"-- \nsigned\n" + other,
        mail,
        HASH + b"\n" + plain,
        b"commit " + b"ABCDEF0123" * 4 + b"\n\n" + plain,
    ]
    wanted = [asked_alone(repository.root, patch) for patch in patches]
    assert len(set(wanted)) > 4
    assert patch_ids(patches, ask) == wanted
    assert len(calls) == 4, "one for all, and one for each of the three that say where a patch begins"
    assert patch_ids(patches, ask) == wanted
    assert len(calls) == 4
