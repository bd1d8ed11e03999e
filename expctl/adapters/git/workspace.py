"""Changing a git repository: pin a candidate, commit records, check out for measuring. By plumbing only.

The user's tree is touched in two places: publication (git_publication.py), and `restore` after a capture.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.adapters.git.failures import gave_up
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.publication import Publication
from expctl.adapters.git.reader import Place
from expctl.adapters.git.stale_locks import remove_below
from expctl.adapters.git.work_tree import WorkTreeFiles
from expctl.adapters.git.worktrees import CheckOuts
from expctl.domain.errors import Refused
from expctl.domain.patch.changed_file import ChangedFile
from expctl.domain.patch.unified_diff import no_diff
from expctl.domain.run.step_result import Failed
from expctl.files import atomic_write

IDENTITY = {"NAME": "expctl", "EMAIL": "expctl@localhost"}
DELETED = "000000"
# Whatever the repository's configuration says, a patch that git can apply again.
PLAIN_DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "--binary", "-U3", "--submodule=short"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


class GitWorkspace(GitPlumbing):
    """One repository. Raises MachineTrouble when plumbing that cannot fail in a sound one does."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self._scratch_index = str(place.state / "scratch.index")
        self.check_outs = CheckOuts(self)

    # ------------------------------------------------------------------ looking

    def branch_head(self, branch: str) -> str:
        """The commit of a branch, whether it is checked out or not. Raises Refused when it is gone."""
        commit = self.ref(f"refs/heads/{branch}")
        if not commit:
            raise Refused(
                f"the branch {branch} is gone",
                code="branch-gone",
                expected="the branch on which the run began",
                found="no such branch",
                where=str(self.root),
                hint=f"git branch {branch} COMMIT, then run again",
            )
        return commit

    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Paths below `paths` that differ from HEAD in index or work tree, or are untracked and not ignored."""
        arguments = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", *paths]
        status, out, said = self.call(arguments)
        if status:
            raise gave_up("status", said, str(self.root))
        return tuple(entry[3:] for entry in out.decode(errors="surrogateescape").split("\0") if entry)

    def root_modes(self, commit: str) -> dict[str, str]:
        """Name -> git mode of the entries at the top of `commit`."""
        entries = (entry.split("\t", 1) for entry in self.must(["ls-tree", "-z", commit]).split("\0") if entry)
        return {name: head.split()[0] for head, name in entries}

    def unfinished_operation(self) -> str:
        """A merge, rebase, cherry-pick, revert or bisect that the user has under way, or an empty string."""
        marks = {
            "MERGE_HEAD": "merge",
            "rebase-merge": "rebase",
            "rebase-apply": "rebase",
            "CHERRY_PICK_HEAD": "cherry-pick",
            "REVERT_HEAD": "revert",
            "BISECT_LOG": "bisect",
        }
        return next((name for mark, name in marks.items() if (self.place.git_dir / mark).exists()), "")

    def is_commit(self, name: str) -> bool:
        """Does `name` (hex digits) lead to exactly one commit?"""
        return bool(self.ref(name))

    def is_ancestor(self, old: str, new: str) -> bool:
        """Is `old` in the history of `new` (or the same)?"""
        return self.call(["merge-base", "--is-ancestor", old, new])[0] == 0

    def differs(self, old: str, new: str, paths: Sequence[str]) -> bool:
        """Do two commits differ below `paths`? One that is gone (a shallow clone, collected garbage) differs."""
        status, _, said = self.call(["diff-tree", "--quiet", "-r", old, new, "--", *paths])
        if status not in (0, 1) and self.ref(old) and self.ref(new):
            raise gave_up("diff-tree", said, str(self.root))
        return status != 0

    def source_identity(self, commit: str) -> str:
        """A hash of everything in `commit` that a build could read: all but experiments and ledger."""
        import hashlib

        entries = self.must(["ls-tree", "-z", commit]).split("\0")
        kept = [entry for entry in entries if entry.partition("\t")[2] not in ("experiments", "ledger.md")]
        return hashlib.sha256("\0".join(kept).encode(errors="surrogateescape")).hexdigest()

    def parent(self, commit: str) -> str:
        """The first parent of a commit."""
        return self.must(["rev-parse", f"{commit}^"])

    # ------------------------------------------------------------------ pinning

    def candidate_tree(self, base: str, patch: bytes) -> str | Failed:
        """The tree of `base` with `patch` applied, in the object store; nothing is checked out."""
        if fault := no_diff(patch):
            return Failed(reason=fault)
        env = self._fresh_index(base)
        status, _, said = self.call(["apply", "--cached", "--whitespace=nowarn", "-"], stdin=patch, env=env)
        if status:
            return Failed(reason=said.splitlines()[0].removeprefix("error: ") if said else "git apply refused it")
        return self.must(["write-tree"], env=env)

    def rebased_tree(self, base: str, patch: bytes, *, origin: str) -> str | Failed:
        """As `candidate_tree`, by three-way merge with the commit that the patch was made on: `origin`, or where that is
        empty or gone the blobs that the patch names.
        """
        if fault := no_diff(patch):
            return Failed(reason=fault)
        known = bool(origin) and self.call(["cat-file", "-e", f"{origin}^{{commit}}"])[0] == 0
        if known:
            made = self.candidate_tree(origin, patch)
            if isinstance(made, Failed):
                return made
            patch = self.difference(origin, made)
        env = self._fresh_index(base)
        status, _, said = self.call(["apply", "--cached", "--3way", "--whitespace=nowarn", "-"], stdin=patch, env=env)
        if status:
            return Failed(reason=_conflict(said) or "git apply --3way refused it")
        return self.must(["write-tree"], env=env)

    def difference(self, old: str, new: str) -> bytes:
        """What turns one tree into another, as a patch that `candidate_tree` applies."""
        status, patch, said = self.call(["diff-tree", "-p", *PLAIN_DIFF, old, new])
        if status:
            raise gave_up("diff-tree", said, str(self.root))
        return patch

    def reverted_tree(self, head: str, commit: str, paths: Sequence[str]) -> str | Failed:
        """The tree of `head` with what `commit` changed below `paths` taken back, merged three ways."""
        status, patch, said = self.call(["diff", *PLAIN_DIFF, f"{commit}^", commit, "--", *paths])
        if status:
            raise gave_up("diff", said, str(self.root))
        env = self._fresh_index(head)
        status, _, said = self.call(["apply", "--cached", "--3way", "--whitespace=nowarn", "-R", "-"], stdin=patch, env=env)
        if status:
            return Failed(reason=_first_fault(said))
        tree = self.must(["write-tree"], env=env)
        same = tree == self.must(["rev-parse", f"{head}^{{tree}}"])
        return Failed(reason="nothing of it is left in HEAD") if same else tree

    def commits_touching(self, old: str, new: str, paths: Sequence[str]) -> tuple[str, ...]:
        """The commits after `old` up to `new`, along first parents and oldest first, that changed something below `paths`."""
        found = self.must(["log", "--first-parent", "--reverse", "--format=%H", f"{old}..{new}", "--", *paths])
        return tuple(found.split())

    def changed_files(self, base: str, tree: str) -> tuple[ChangedFile, ...]:
        """What differs between two trees, with sizes in bytes; a submodule's commit is not here and counts as none."""
        raw = self.must(["diff-tree", "-r", "-z", "--no-renames", "--raw", base, tree]).split("\0")
        entries = [(head.split(), path) for head, path in zip(raw[::2], raw[1::2], strict=False)]
        sizes = self.must(
            ["cat-file", "--batch-check=%(objectsize)"], stdin="".join(f"{head[3]}\n" for head, _ in entries).encode()
        ).split("\n")
        return tuple(
            ChangedFile(path=path, mode=head[1], size=int(size) if head[1] != DELETED and size.isdigit() else 0)
            for (head, path), size in zip(entries, sizes, strict=False)
        )

    def pin(self, *, base: str, tree: str, message: str, ref: str) -> str:
        """Commit `tree` on `base` and point `ref` at it. The same tree, base and message give the same id.

        The date is the baseline's own, so that time doesn't enter the identity.
        """
        commit = self.commit_tree(base=base, tree=tree, message=message)
        self.must(["update-ref", ref, commit])
        return commit

    def commit_tree(self, *, base: str, tree: str, message: str) -> str:
        """As `pin`, without a ref: git may forget the commit when it collects garbage."""
        date = self.must(["show", "-s", "--format=%ct +0000", base])
        return self._commit(tree=tree, parent=base, message=message, date=date)

    def commit_files(self, *, parent: str, files: Mapping[str, bytes], message: str, date: str) -> str:
        """A commit on `parent` that changes exactly `files` (path -> contents). No ref moves."""
        env = self._fresh_index(parent)
        entries = []
        for path, contents in sorted(files.items()):
            blob = self.must(["hash-object", "-w", "--stdin"], stdin=contents)
            entries.append(f"100644 {blob}\t{path}\0")
        self.must(["update-index", "-z", "--add", "--index-info"], stdin="".join(entries).encode(), env=env)
        return self._commit(tree=self.must(["write-tree"], env=env), parent=parent, message=message, date=date)

    def publish(self, *, branch: str, old: str, new: str) -> bool:
        """Move `branch` from `old` to `new`, index and files with it; False when it isn't at `old` any more."""
        return Publication(self).publish(branch=branch, old=old, new=new)

    def finish_publication(self) -> None:
        """Complete or undo what a dead run left of a publication; remove its half-written files and the locks on our refs."""
        Publication(self).recover_intended()
        files = WorkTreeFiles(self)
        files.settle()
        files.forget()
        remove_below(self.state.parent / "refs" / "expctl")
        for folder in (self.state, self.state / "builds"):
            atomic_write.forget_half_written(folder)

    def _commit(self, *, tree: str, parent: str, message: str, date: str) -> str:
        env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in IDENTITY.items()}
        env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        return self.must(["commit-tree", tree, "-p", parent, "-F", "-"], stdin=message.encode(), env=env)

    def _fresh_index(self, commit: str) -> dict[str, str]:
        """An index of our own that holds `commit`, so that the user's is not touched."""
        env = {"GIT_INDEX_FILE": self._scratch_index}
        for leftover in (self._scratch_index, f"{self._scratch_index}.lock"):
            Path(leftover).unlink(missing_ok=True)
        self.must(["read-tree", commit], env=env)
        return env

    # ------------------------------------------------------------------ the user's changes

    def capture(self, paths: Sequence[str]) -> bytes:
        """The local changes below `paths` against HEAD as one patch, new files included, ignored ones not."""
        env = self._fresh_index("HEAD")
        known = [path for path in paths if (self.root / path).exists() or self.list_files("HEAD", path)]
        self.must(["add", "-A", "--", *known], env=env)
        status, out, said = self.call(["diff", "--cached", *PLAIN_DIFF, "HEAD", "--", *paths], env=env)
        if status:
            raise gave_up("diff", said, str(self.root))
        return out

    def restore(self, paths: Sequence[str], *, tree: str) -> None:
        """Bring `paths` back to HEAD, but only those that still are what `tree` holds: a later edit stays."""
        files, now = WorkTreeFiles(self), self.ref("HEAD")
        files.stage(tree, now)
        files.follow(tree, now, only=paths)
        files.forget()
        head = {path: blob for each in paths for path, blob in self.list_files("HEAD", each).items()}
        back = [path for path in paths if self.blob_on_disk(path) == head.get(path, "")]
        if back:
            self.call(["reset", "-q", "HEAD", "--", *back])

    def apply(self, patch: bytes) -> None:
        """Apply a patch to the user's files. Raises MachineTrouble when git refuses: callers checked it before."""
        self.must(["apply", "--whitespace=nowarn", "-"], stdin=patch)

    # ------------------------------------------------------------------ check-outs

    def check_out(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path:
        """See `CheckOuts.make`."""
        return self.check_outs.make(commit, name, sealed=sealed)

    def remove_check_outs(self) -> None:
        """See `CheckOuts.remove_all`."""
        self.check_outs.remove_all()


def _conflict(said: str) -> str:
    """The files in which both sides changed the same lines, from what `git apply --3way` says; else its first complaint."""
    lines = said.splitlines()
    files = [line.partition("Applied patch to '")[2].partition("'")[0] for line in lines if line.endswith("with conflicts.")]
    if files:
        return f"the same lines of {', '.join(files)} changed meanwhile"
    return next((line.removeprefix("error: ") for line in lines if line.startswith("error: ")), "")


def _first_fault(said: str) -> str:
    """What of git's words names the conflict."""
    lines = [line.removeprefix("error: ") for line in said.splitlines()]
    return next(
        (line for line in lines if "conflict" in line or "does not apply" in line), lines[-1] if lines else "a conflict"
    )
