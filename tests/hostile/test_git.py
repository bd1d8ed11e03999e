"""A repository whose configuration, attributes and hooks run programs: none runs, whatever we ask of git."""

import os
import subprocess
from pathlib import Path

import pytest

from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from tests.hostile.table import TABLE
from tests.user_repository import KERNEL, Repository

CONFIGURATION = TABLE["git"]
HOOKS = (
    *("applypatch-msg", "pre-applypatch", "post-applypatch", "pre-commit", "prepare-commit-msg", "commit-msg", "post-commit"),
    *("pre-rebase", "post-checkout", "post-merge", "pre-auto-gc", "post-rewrite", "reference-transaction", "post-index-change"),
    *("fsmonitor-watchman", "proc-receive", "update", "pre-push"),
)
HEADER_OF_A_SIGNATURE = "gpgsig -----BEGIN PGP SIGNATURE-----\n \n x\n -----END PGP SIGNATURE-----\n"


@pytest.fixture
def trapped(tmp_path: Path) -> Repository:
    """Two commits, the second of them also signed (`signed`), and a trap behind every entry of the table and every hook."""
    root = tmp_path / "repo"
    root.mkdir()
    made = Repository(root)
    made.git("init", "-q", "-b", "main")
    for contents in (KERNEL.replace(b"five", b"5"), KERNEL):
        made.write("src/kernel.txt", contents)
        made.write(".gitattributes", "*.txt diff=evil\n")
        made.commit()
    text = made.git("cat-file", "commit", "HEAD")
    head, _, message = text.partition("\n\n")
    signed = made.git(
        "hash-object", "-t", "commit", "-w", "--stdin", stdin=f"{head}\n{HEADER_OF_A_SIGNATURE}\n{message}".encode()
    )
    made.git("update-ref", "refs/heads/signed", signed.strip())
    (tmp_path / "patch").write_bytes(made.patch("src/kernel.txt", KERNEL.replace(b"three", b"3")))
    (tmp_path / "sprung").mkdir()
    for name in HOOKS:
        trap(tmp_path, root / ".git/hooks" / name, name)
    for key, entry in CONFIGURATION.items():
        value = entry["value"]
        if "@" in value:
            trap(tmp_path, tmp_path / f"trap.{key}", key)
            value = value.replace("@", str(tmp_path / f"trap.{key}"))
        made.git("config", key, value)
    reset(made)
    return made


def trap(folder: Path, program: Path, name: str) -> None:
    program.write_text(f'#!/bin/sh\n: > "{folder}/sprung/{name}"\ncat "$1" 2>/dev/null\nexit 0\n')
    program.chmod(0o755)


def sprung(repository: Repository) -> set[str]:
    return set(os.listdir(repository.root.parent / "sprung"))


def reset(repository: Repository) -> None:
    for name in sprung(repository):
        (repository.root.parent / "sprung" / name).unlink()


def test_no_trap_is_sprung_by_anything_that_we_do(trapped: Repository, monkeypatch: pytest.MonkeyPatch) -> None:
    patch = (trapped.root.parent / "patch").read_bytes()
    monkeypatch.setenv("GIT_DIR", "/nowhere")
    monkeypatch.setenv("GIT_INDEX_FILE", "/nowhere/index")
    for name in ("GIT_EXTERNAL_DIFF", "GIT_PAGER", "GIT_EDITOR", "GIT_SSH_COMMAND", "GIT_ASKPASS"):
        monkeypatch.setenv(name, str(trapped.root.parent / "trap.core.pager"))
    workspace = GitWorkspace(locate(trapped.root))
    head = workspace.head()
    tree = workspace.candidate_tree(head, patch)
    assert isinstance(tree, str)
    assert workspace.rebased_tree(head, patch, origin="") == tree
    assert workspace.candidate_tree(head, workspace.difference(head, tree)) == tree
    candidate = workspace.pin(base=head, tree=tree, message="P1\n\nExpctl-Id: P1\n", ref="refs/expctl/P1")
    assert (workspace.check_out(candidate, "c") / "src/kernel.txt").read_bytes() == KERNEL.replace(b"three", b"3")
    assert workspace.check_out(candidate, "c").exists()
    (trapped.root / "src/kernel.txt").write_bytes(KERNEL.replace(b"three", b"3"))
    assert workspace.dirty(["src"]) == ("src/kernel.txt",)
    captured = workspace.capture(["src"])
    assert workspace.candidate_tree(head, captured) == tree
    assert workspace.patch_identity(captured) == workspace.patch_identity(patch)
    workspace.set_back(["src/kernel.txt"], tree=tree)
    assert (trapped.root / "src/kernel.txt").read_bytes() == KERNEL
    workspace.apply(tree)
    assert workspace.are_as_in(tree, workspace.dirty(["src"]))
    workspace.set_back(["src/kernel.txt"], tree=tree)
    commit = workspace.commit_files(parent=candidate, files={"ledger.md": b"x\n"}, message="P1 KEEP\n", date="1700000000 +0000")
    assert workspace.publish(branch="main", old=head, new=commit)
    assert (trapped.root / "ledger.md").read_bytes() == b"x\n"
    without = workspace.tree_with(commit, head, ["src"])
    assert workspace.reapplied_tree(without, candidate, ["src"]) == workspace.must(["rev-parse", f"{commit}^{{tree}}"])
    assert workspace.commits_touching(head, commit, ["src"]) == (candidate,)
    assert workspace.commit_tree(base=workspace.ref("refs/heads/signed"), tree=tree, message="x\n")
    assert [file.path for file in workspace.changed_files(head, commit)] == ["ledger.md", "src/kernel.txt"]
    workspace.remove_check_outs()
    assert sprung(trapped) == set()


@pytest.mark.parametrize("key", [key for key, entry in CONFIGURATION.items() if "alone" in entry])
def test_plain_git_runs_into_the_trap(trapped: Repository, key: str) -> None:
    for other in CONFIGURATION:
        if other != key:
            trapped.git("config", "--unset", other)
    reset(trapped)
    subprocess.run(["git", *CONFIGURATION[key]["alone"]], cwd=trapped.root, capture_output=True)
    assert key in sprung(trapped)


def test_plain_git_runs_its_hooks(trapped: Repository) -> None:
    reset(trapped)
    trapped.git("-c", "commit.gpgSign=false", "commit", "-q", "--allow-empty", "-m", "x")
    assert {"pre-commit", "post-commit", "reference-transaction"} <= sprung(trapped)
