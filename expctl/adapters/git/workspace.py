"""Change a git repository with plumbing commands: pin a candidate, commit records, check commits out to measure them.

The user's work tree is changed by `publish`, `restore` and `apply` only.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from secrets import token_hex

from expctl.adapters.git.captured_changes import CapturedChanges
from expctl.adapters.git.failures import conflict_of, gave_up, unfit_index
from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.publication import Publication
from expctl.adapters.git.reader import OBJECT, Place
from expctl.adapters.git.signing import not_signed, signing_settings
from expctl.adapters.git.stale_locks import remove_below
from expctl.adapters.git.three_way import NO_BLOB, merge_into_index
from expctl.adapters.git.work_tree import WorkTreeFiles
from expctl.adapters.git.worktrees import CheckOuts
from expctl.domain.patch.changed_file import ChangedFile
from expctl.domain.patch.merge import Merged, Whose
from expctl.domain.patch.unified_diff import no_diff
from expctl.domain.run.step_result import Failed
from expctl.files import atomic_write

IDENTITY = {"NAME": "expctl", "EMAIL": "expctl@localhost"}
DELETED = "000000"
# Options of diff for a patch that git can apply again, whatever the repository's configuration says.
PLAIN_DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "--binary", "-U3", "--submodule=short"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)


class GitWorkspace(GitPlumbing):
    """Changes one git repository. Its methods raise MachineTrouble if git fails although the repository is sound."""

    def __init__(self, place: Place) -> None:
        super().__init__(place)
        self.check_outs = CheckOuts(self)
        self.campaign = ""
        self._read_tree: tuple[str, bytes] | None = None  # a commit, and the index that git made of it
        self._changed: dict[tuple[str, str], tuple[ChangedFile, ...]] = {}

    # ------------------------------------------------------------------ looking

    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the files at or below `paths` that differ from HEAD in index or work tree, or are untracked and not ignored.
        Raises Refused if git's index is missing or damaged, since git would then report every file as deleted.
        """
        index = self.place.git_dir / "index"
        if not index.exists():
            raise unfit_index(index, self.root)
        arguments = ["status", "--porcelain=v1", "-z", "--no-renames", "--untracked-files=all", "--", *paths]
        status, out, stderr = self.call(arguments)
        if status:
            unread, _, why = self.call(["ls-files"])
            raise unfit_index(index, self.root, found=why) if unread else gave_up("status", stderr, str(self.root))
        return tuple(entry[3:] for entry in out.decode(errors="surrogateescape").split("\0") if entry)

    def root_modes(self, commit: str) -> dict[str, str]:
        """Return name -> git mode of the entries in the root folder of `commit`."""
        entries = (entry.split("\t", 1) for entry in self.must(["ls-tree", "-z", commit]).split("\0") if entry)
        return {name: head.split()[0] for head, name in entries}

    def unfinished_operation(self) -> str:
        """Return which of merge, rebase, cherry-pick, revert or bisect the user has under way; empty if none."""
        marks = {
            "MERGE_HEAD": "merge",
            "rebase-merge": "rebase",
            "rebase-apply": "rebase",
            "CHERRY_PICK_HEAD": "cherry-pick",
            "REVERT_HEAD": "revert",
            "BISECT_LOG": "bisect",
        }
        return next((name for mark, name in marks.items() if (self.place.git_dir / mark).exists()), "")

    def is_ancestor(self, old: str, new: str) -> bool:
        """Is `old` an ancestor of `new`, or the same commit?"""
        return self.call(["merge-base", "--is-ancestor", old, new])[0] == 0

    def differs(self, old: str, new: str, paths: Sequence[str]) -> bool:
        """Do two commits differ below `paths`? True if one is missing (a shallow clone, garbage collection)."""
        status, _, stderr = self.call(["diff-tree", "--quiet", "-r", old, new, "--", *paths])
        if status not in (0, 1) and self.ref(old) and self.ref(new):
            raise gave_up("diff-tree", stderr, str(self.root))
        return status != 0

    def source_identity(self, commit: str) -> str:
        """Return one SHA-256 of all files in `commit` that a build could read: all but experiments and ledger."""
        import hashlib

        entries = self.must(["ls-tree", "-z", commit]).split("\0")
        kept = [entry for entry in entries if entry.partition("\t")[2] not in ("experiments", "ledger.md")]
        return hashlib.sha256("\0".join(kept).encode(errors="surrogateescape")).hexdigest()

    # ------------------------------------------------------------------ pinning

    def candidate_tree(self, base: str, patch: bytes) -> str | Failed:
        """Return the id of the tree of `base` with `patch` applied, or Failed if it doesn't apply. Checks nothing out."""
        if fault := no_diff(patch):
            return Failed(reason=fault)
        with self._fresh_index(base) as env:
            status, _, stderr = self.call(["apply", "--cached", "--whitespace=nowarn", "-"], stdin=patch, env=env)
            if status:
                return Failed(reason=stderr.splitlines()[0].removeprefix("error: ") if stderr else "git apply refused it")
            return self.must(["write-tree"], env=env)

    def rebased_tree(self, base: str, patch: bytes, *, origin: str) -> str | Failed:
        """Return the id of the tree of `base` with `patch` applied by three-way merge, or Failed if they conflict.

        The merge base is `origin`, the commit that the patch was made on. If that is "" or missing, the file versions whose ids
        the patch names serve instead.
        """
        if fault := no_diff(patch):
            return Failed(reason=fault)
        known = bool(origin) and self.call(["cat-file", "-e", f"{origin}^{{commit}}"])[0] == 0
        if known:
            made = self.candidate_tree(origin, patch)
            if isinstance(made, Failed):
                return made
            patch = self.difference(origin, made)
        with self._fresh_index(base) as env:
            status, _, stderr = self.call(["apply", "--cached", "--3way", "--whitespace=nowarn", "-"], stdin=patch, env=env)
            if status:
                why = conflict_of(stderr, "the same lines of {} changed meanwhile")
                return Failed(reason=why or "git apply --3way refused it")
            return self.must(["write-tree"], env=env)

    def merged_tree(
        self, base: str, ours: str, theirs: str, *, name: str, whose: Callable[[str], Whose] = lambda _: Whose.BOTH
    ) -> Merged:
        """Merge the trees `ours` and `theirs`, both made from `base`. Conflict markers call theirs `name`."""
        with self._fresh_index(ours) as env:
            return merge_into_index(self, env, base=base, ours=ours, theirs=theirs, name=name, whose=whose)

    def difference(self, old: str, new: str) -> bytes:
        """Return the patch that turns tree `old` into `new`, in a form that `candidate_tree` can apply."""
        status, patch, stderr = self.call(["diff-tree", "-p", *PLAIN_DIFF, old, new])
        if status:
            raise gave_up("diff-tree", stderr, str(self.root))
        return patch

    def tree_with(self, head: str, other: str, paths: Sequence[str]) -> str:
        """Return the id of a new tree: that of commit `head`, with everything at or below `paths` as in commit `other`."""
        gone = [f"0 {NO_BLOB}\t{path}" for each in paths for path in self.list_files(head, each)]
        there = self.must(["ls-tree", "-r", "-z", other, "--", *paths]).split("\0")
        entries = "".join(f"{entry}\0" for entry in (*gone, *there) if entry)
        with self._fresh_index(head) as env:
            self.must(["update-index", "-z", "--index-info"], stdin=entries.encode(errors="surrogateescape"), env=env)
            return self.must(["write-tree"], env=env)

    def reapplied_tree(self, tree: str, commit: str, paths: Sequence[str]) -> str | Failed:
        """Return the id of a new tree: `tree` with the changes that `commit` made in `paths`; or Failed if they conflict. It is
        a three-way merge as for a cherry-pick: the merge base is the first parent of `commit`, renamed files are followed.
        """
        status, patch, stderr = self.call(["diff", *PLAIN_DIFF, "--find-renames", f"{commit}^", commit, "--", *paths])
        if status:
            raise gave_up("diff", stderr, str(self.root))
        with self._fresh_index(tree) as env:
            apply = ["apply", "--cached", "--3way", "--whitespace=nowarn", "-"]
            status, _, stderr = self.call(apply, stdin=patch, env=env) if patch else (0, b"", "")
            if status:
                return Failed(reason=conflict_of(stderr, "conflict in {}") or "git apply --3way refused it")
            return self.must(["write-tree"], env=env)

    def commits_touching(self, old: str, new: str, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the commits after `old` up to `new`, along first parents and oldest first, that changed `paths`."""
        found = self.must(["log", "--first-parent", "--reverse", "--format=%H", f"{old}..{new}", "--", *paths])
        return tuple(found.split())

    def changed_files(self, base: str, tree: str) -> tuple[ChangedFile, ...]:
        """Return the files that differ between two trees, with new sizes in bytes (0 for a deleted file or a submodule)."""
        if (base, tree) in self._changed:
            return self._changed[base, tree]
        raw = self.must(["diff-tree", "-r", "-z", "--no-renames", "--raw", base, tree]).split("\0")
        entries = [(head.split(), path) for head, path in zip(raw[::2], raw[1::2], strict=False)]
        sizes = self.must(
            ["cat-file", "--batch-check=%(objectsize)"], stdin="".join(f"{head[3]}\n" for head, _ in entries).encode()
        ).split("\n")
        found = tuple(
            ChangedFile(path=path, mode=head[1], size=int(size) if head[1] != DELETED and size.isdigit() else 0)
            for (head, path), size in zip(entries, sizes, strict=False)
        )
        if OBJECT.fullmatch(base) and OBJECT.fullmatch(tree):
            self._changed[base, tree] = found
        return found

    def pin(self, *, base: str, tree: str, message: str, ref: str, author: str = "") -> str:
        """Commit `tree` by `author` ("": expctl) on `base`, with its date; set `ref` to the new commit, return the id."""
        commit = self.commit_tree(base=base, tree=tree, message=message, author=author)
        self.must(["update-ref", ref, commit])
        return commit

    def commit_tree(self, *, base: str, tree: str, message: str, author: str = "") -> str:
        """Commit `tree` with parent `base` and the date of `base`; return the commit's id. No ref points to it, so git's
        garbage collection may remove it.
        """
        date = self.must(["show", "-s", "--format=%ct +0000", base])
        return self._commit(tree=tree, parents=(base,), message=message, date=date, author=author)

    def commit_files(
        self, *, parent: str, files: Mapping[str, bytes], message: str, date: str, merged: tuple[str, str] | None = None
    ) -> str:
        """Commit the tree of `parent` with `files` (path -> contents) written into it; return the commit's id. No ref moves.
        The parent of the new commit is `parent`, or both of `merged`. It is signed if the user asks for that (signing.py).
        """
        paths = sorted(files)
        entries = [
            f"100644 {blob}\t{path}\0" for path, blob in zip(paths, self.store([files[each] for each in paths]), strict=True)
        ]
        with self._fresh_index(parent) as env:
            self.must(["update-index", "-z", "--add", "--index-info"], stdin="".join(entries).encode(), env=env)
            tree = self.must(["write-tree"], env=env)
        return self._commit(tree=tree, parents=merged or (parent,), message=message, date=date, signs=True)

    def publish(self, *, branch: str, old: str, new: str, captured: Sequence[str] = (), tree: str = "") -> bool:
        """Move `branch` from commit `old` to `new`, with index and files. Return False, doing nothing, if it isn't at `old`.

        `captured` are changed files of the user that `new` has as a proposal: those that are as in `tree` are set back to HEAD.
        """
        changes = CapturedChanges(self)
        if captured:
            changes.intend(new, captured, tree)
        moved = Publication(GitPlumbing(self.place)).publish(branch=branch, old=old, new=new)
        changes.finish()
        return moved

    def finish_publication(self) -> None:
        """Complete or undo what a killed command did to the branch, index and files; remove the temporary files of that."""
        Publication(GitPlumbing(self.place)).recover_intended()
        files = WorkTreeFiles(self)
        files.recover()
        files.remove_temporary()
        CapturedChanges(self).finish()

    def remove_leftovers(self) -> None:
        """Remove temporary files and ref locks of killed commands. Nobody else may be measuring or publishing."""
        remove_below(self.state.parent / "refs" / "expctl")
        for folder in (self.state, self.state / "builds"):
            atomic_write.remove_temporary_files(folder)

    def _commit(
        self, *, tree: str, parents: Sequence[str], message: str, date: str, author: str = "", signs: bool = False
    ) -> str:
        env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in IDENTITY.items()}
        if author:
            name, _, email = author.removesuffix(">").rpartition(" <")
            env |= {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email}
        env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        words = ["commit-tree", tree, *(word for parent in parents for word in ("-p", parent)), "-F", "-"]
        signing = signing_settings(self.root) if signs else {}
        if not signing:
            return self.must(words, stdin=message.encode(), env=env)
        status, out, stderr = self.call([*words, "-S"], stdin=message.encode(), env=env | signing)
        if status:
            raise not_signed(stderr)
        return out.decode().strip()

    @contextmanager
    def _fresh_index(self, commit: str) -> Iterator[dict[str, str]]:
        # An index of our own, so that neither the user's is touched nor that of another expctl.
        index = self.state / f".scratch.{token_hex(8)}.new"
        env = {"GIT_INDEX_FILE": str(index)}
        try:
            if self._read_tree and self._read_tree[0] == commit:
                index.write_bytes(self._read_tree[1])
            else:
                self.must(["read-tree", commit], env=env)
                self._read_tree = (commit, index.read_bytes()) if OBJECT.fullmatch(commit) else None
            yield env
        finally:
            for file in (index, index.with_name(f"{index.name}.lock")):
                file.unlink(missing_ok=True)

    # ------------------------------------------------------------------ the user's changes

    def capture(self, paths: Sequence[str]) -> bytes:
        """Return the local changes below `paths` against HEAD as one patch; untracked files are in it, ignored ones aren't."""
        known = [path for path in paths if (self.root / path).exists() or self.list_files("HEAD", path)]
        with self._fresh_index("HEAD") as env:
            self.must(["add", "-A", "--", *known], env=env)
            status, out, stderr = self.call(["diff", "--cached", *PLAIN_DIFF, "HEAD", "--", *paths], env=env)
        if status:
            raise gave_up("diff", stderr, str(self.root))
        return out

    def set_back(self, paths: Sequence[str], *, tree: str) -> None:
        """Reset those files of `paths` that are as in `tree` to HEAD, in work tree and index. Other files stay as they are."""
        CapturedChanges(self).set_back(paths, tree=tree)

    def apply(self, patch: bytes) -> None:
        """Apply a patch to the user's files. The caller makes sure that it applies; raises MachineTrouble if git refuses it."""
        self.must(["apply", "--whitespace=nowarn", "-"], stdin=patch)

    # ------------------------------------------------------------------ check-outs

    def check_out(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path:
        """Return the folder of a work tree with `commit` checked out, made or reused under `name`, cleaned of other files. If
        somebody edited a file at or below `sealed` in it, it is returned as it is, perhaps at another commit.
        """
        return self.check_outs.make(commit, name, sealed=sealed)

    def remove_check_outs(self) -> None:
        """Remove every work tree that expctl made."""
        self.check_outs.remove_all()
