"""What "hermetic" means for every git call of ours, reading or writing; and the call itself, for what only reads."""

import contextlib
import functools
import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO

from expctl.adapters.git.failures import git_trouble
from expctl.domain.errors import Refused

Answer = subprocess.CompletedProcess[bytes]

# Hooks, monitors, external diffs, signature checks and user configuration can run code or change bytes; none of them may.
SETTINGS = (
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.quotePath=false",
    "core.fsync=all",
    "core.protectHFS=true",
    "core.protectNTFS=true",
    "apply.ignoreWhitespace=no",
    "diff.external=",
    "diff.orderFile=/dev/null",
    "log.showSignature=false",
    "log.follow=false",
    "submodule.recurse=false",
    "i18n.commitEncoding=UTF-8",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)

WHOLE = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "core.sparseCheckout", "GIT_CONFIG_VALUE_0": "false"}
"""Environment of a call for which the user's tree isn't sparse."""

# What the user's own configuration may say, because it changes what their files mean, not what runs.
USERS = r"^(core\.(excludesfile|attributesfile|autocrlf|eol|safecrlf)|safe\.directory)$"


@functools.cache
def user_settings() -> tuple[str, ...]:
    """`key=value` of the few settings that are taken over from the user's and the system's configuration."""
    answer = subprocess.run(
        ["git", "config", "--null", "--includes", "--get-regexp", USERS],
        cwd="/",
        env={name: value for name, value in os.environ.items() if name.startswith("GIT_CONFIG") or not _is_gits(name)},
        capture_output=True,
        check=False,
    )
    entries = answer.stdout.decode(errors="surrogateescape").split("\0")
    return tuple(entry.replace("\n", "=", 1) for entry in entries if entry)


def hermetic_arguments(*, users: bool = True) -> list[str]:
    """`git` and the settings of every call; without the `users` own, which cost a process, for what only looks up objects."""
    settings = (*SETTINGS, *user_settings()) if users else SETTINGS
    return ["git", *(word for setting in settings for word in ("-c", setting))]


def hermetic_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """The environment of every call: GIT_* scrubbed, no system or global configuration, English messages."""
    kept = {name: value for name, value in os.environ.items() if not _is_gits(name)}
    fixed = {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_NO_REPLACE_OBJECTS": "1",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_LITERAL_PATHSPECS": "1",
        "LC_ALL": "C",
    }
    return {**kept, **fixed, **(extra or {})}


@contextlib.contextmanager
def without_gits_own() -> Iterator[None]:
    """Our own environment without GIT_*, for a library that adds what it is given to that. Restored afterwards."""
    taken = {name: os.environ.pop(name) for name in list(os.environ) if _is_gits(name)}
    try:
        yield
    finally:
        os.environ.update(taken)


def _is_gits(name: str) -> bool:
    return name.startswith("GIT_")


def run_git(
    cwd: Path, arguments: Sequence[str], stdin: bytes | BinaryIO = b"", *, ends: Sequence[int] = (0,), users: bool = False
) -> Answer:
    """Run git. Raises Refused when it ends with another status than those that are answers: silence would look like one.

    Fed from an open file, what git says is dropped: to feed and to drain three streams costs more than all the rest.
    """
    streams: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    try:
        answer = subprocess.run(
            [*hermetic_arguments(users=users), *arguments],
            cwd=cwd,
            env=hermetic_environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE if isinstance(stdin, bytes) else subprocess.DEVNULL,
            check=False,
            **streams,
        )
    except FileNotFoundError as error:
        raise Refused(
            "git is not installed",
            code="git-not-installed",
            expected="git on PATH",
            found="none",
            hint="install git, then try again",
        ) from error
    if answer.returncode in ends and not answer.stderr:
        return answer
    said = (answer.stderr or b"").decode(errors="replace").strip()
    trouble = git_trouble(arguments[0], answer.returncode, said)
    if trouble is not None:
        raise trouble
    if answer.returncode not in ends:
        raise Refused(
            "git can't read this repository",
            code="git-cannot-read",
            expected=f"git {arguments[0]} to answer",
            found=said.splitlines()[0] if said else f"exit status {answer.returncode}",
            where=str(cwd),
            hint="git fsck says what is damaged; expctl doctor says what of it is expctl's",
        )
    return answer
