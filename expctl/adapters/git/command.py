"""Build an environment that makes git independent of its configuration, and run git commands that only read."""

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
Process = subprocess.Popen[bytes]

# Hooks, monitors, external diffs, signature checks and user configuration can run code or change bytes: all are off.
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
    "merge.union.driver=git merge-file -q %A %O %B",  # the attribute merge=union would keep both sides of a conflict
    "i18n.commitEncoding=UTF-8",
    "i18n.logOutputEncoding=UTF-8",
    "gc.auto=0",
    "maintenance.auto=false",
    "advice.detachedHead=false",
)

NOT_SPARSE = {"core.sparseCheckout": "false"}
"""Environment of a call that ignores core.sparseCheckout."""

# Settings taken over from the user's configuration, because they change what files mean, not which code runs.
USERS = r"^(core\.(excludesfile|attributesfile|autocrlf|eol|safecrlf)|safe\.directory)$"


@functools.cache
def user_settings() -> tuple[str, ...]:
    """Return the user's and system's git settings on line ends, ignored files and safe directories as `key=value`. Cached."""
    return tuple(entry.replace("\n", "=", 1) for entry in settings_like(USERS, "/"))


def settings_like(pattern: str, folder: str | Path) -> tuple[str, ...]:
    """Return git's settings as the user's own git has them in `folder`, whose keys match `pattern`: key, new line, value; the
    key alone for one without a value, which means true.
    """
    answer = subprocess.run(
        ["git", "config", "--null", "--includes", "--get-regexp", pattern],
        cwd=folder,
        env={name: value for name, value in os.environ.items() if name.startswith("GIT_CONFIG") or not _is_git_variable(name)},
        capture_output=True,
        check=False,
    )
    return tuple(entry for entry in answer.stdout.decode(errors="surrogateescape").split("\0") if entry)


def author_of(root: Path) -> str:
    """Return the author that the user's git would write into a commit made in `root`, as `Name <e-mail>`; "" for none."""
    answer = subprocess.run(
        ["git", "-c", "user.useConfigOnly=true", "var", "GIT_AUTHOR_IDENT"], cwd=root, capture_output=True, check=False
    )
    return answer.stdout.decode(errors="replace").rpartition(">")[0] + ">" if answer.returncode == 0 else ""


def open_in_editor(file: Path) -> tuple[str, int]:
    """Let the user edit `file` in the editor that git would open; return its command and its exit status."""
    answer = subprocess.run(["git", "var", "GIT_EDITOR"], capture_output=True, text=True, check=False)
    editor = answer.stdout.strip() or "vi"
    return editor, subprocess.run(["/bin/sh", "-c", f'{editor} "$1"', "editor", str(file)], check=False).returncode


def hermetic_environment(extra: Mapping[str, str] | None = None, *, user_config: bool = True) -> dict[str, str]:
    """Return the environment for git: os.environ without GIT_*, settings that make git independent, and `extra`, in which a
    name with a dot is a git setting. Git then reads no system or global configuration, runs no hooks and file monitors, only
    filters that the repository configures, and writes its messages in English. `user_config` adds the settings that
    `user_settings` returns.
    """
    kept = {name: value for name, value in os.environ.items() if not _is_git_variable(name)}
    own = {name: value for name, value in (extra or {}).items() if "." in name}
    chosen = [each.partition("=") for each in (*SETTINGS, *(user_settings() if user_config else ()))]
    named = [(name, value if given else "true") for name, given, value in chosen]
    settings = {"GIT_CONFIG_COUNT": str(len(named) + len(own))}
    for number, (name, value) in enumerate((*named, *own.items())):
        settings |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
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
    return {**kept, **fixed, **settings, **{name: value for name, value in (extra or {}).items() if name not in own}}


@contextlib.contextmanager
def without_git_variables() -> Iterator[None]:
    """Remove GIT_* from os.environ within the block, for GitPython, which adds the given environment to os.environ."""
    removed = {name: os.environ.pop(name) for name in list(os.environ) if _is_git_variable(name)}
    try:
        yield
    finally:
        os.environ.update(removed)


def _is_git_variable(name: str) -> bool:
    return name.startswith("GIT_")


def start_git(cwd: Path, arguments: Sequence[str], *, user_config: bool = False) -> Process:
    """Start git in the folder `cwd`, with pipes as its input and output, in a session of its own: a Ctrl-C is for this process,
    which may go on. Raises OSError if it can't be started.
    """
    return subprocess.Popen(
        ["git", *arguments],
        cwd=cwd,
        env=hermetic_environment(user_config=user_config),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def run_git(
    cwd: Path,
    arguments: Sequence[str],
    stdin: bytes | BinaryIO = b"",
    *,
    accepted: Sequence[int] = (0,),
    user_config: bool = False,
) -> Answer:
    """Run git in the folder `cwd` and return its answer. `user_config` passes it the settings of `user_settings`.

    Raises MachineTrouble if git was killed, Refused if git isn't installed or its exit status is not one of `accepted`. If
    `stdin` is an open file, git's error messages are not in the answer.
    """
    streams: dict[str, Any] = {"input": stdin} if isinstance(stdin, bytes) else {"stdin": stdin}
    try:
        answer = subprocess.run(
            ["git", *arguments],
            cwd=cwd,
            env=hermetic_environment(user_config=user_config),
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
    if answer.returncode in accepted and not answer.stderr:
        return answer
    stderr = (answer.stderr or b"").decode(errors="replace").strip()
    trouble = git_trouble(arguments[0], answer.returncode, stderr)
    if trouble is not None:
        raise trouble
    if answer.returncode not in accepted:
        raise Refused(
            "git can't read this repository",
            code="git-cannot-read",
            expected=f"git {arguments[0]} to succeed",
            found=stderr.splitlines()[0] if stderr else f"exit status {answer.returncode}",
            where=str(cwd),
            hint="git fsck shows what is damaged; expctl doctor shows what expctl can repair",
        )
    return answer
