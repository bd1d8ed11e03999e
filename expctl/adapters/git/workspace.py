"""Change a git repository with plumbing commands: pin a candidate, commit records, check commits out to measure them.

The user's work tree is changed by `publish`, `set_back` and `apply` only.
"""

import functools
import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from expctl.adapters.git.captured_changes import CapturedChanges
from expctl.adapters.git.commit_objects import Objects, commit_text, folders_of, with_files
from expctl.adapters.git.failures import gave_up, unfit_index
from expctl.adapters.git.known_objects import KnownObjects, keep_last, line
from expctl.adapters.git.object_server import ObjectServer
from expctl.adapters.git.objects import lost_object
from expctl.adapters.git.plumbing import GitPlumbing, misses_an_object
from expctl.adapters.git.publication import Publication
from expctl.adapters.git.reader import OBJECT, Place
from expctl.adapters.git.signing import not_signed, signing_settings
from expctl.adapters.git.stale_locks import remove_below
from expctl.adapters.git.tree_changes import Change
from expctl.adapters.git.tree_differences import differences
from expctl.adapters.git.trees import PLAIN_DIFF, TRIES, GitTrees
from expctl.adapters.git.work_tree import WorkTreeFiles
from expctl.adapters.git.worktrees import CheckOuts
from expctl.domain.patch.changed_file import ChangedFile
from expctl.files import atomic_write

DELETED = "000000"
IDENTITY = {"NAME": "expctl", "EMAIL": "expctl@localhost"}
AUTHOR = "{NAME} <{EMAIL}>".format_map(IDENTITY)


class GitWorkspace(GitTrees):
    """Changes one git repository. Its methods raise MachineTrouble if git fails although the repository is sound."""

    def __init__(self, place: Place, known: KnownObjects | None = None, server: ObjectServer | None = None) -> None:
        super().__init__(place, known, server)
        self.check_outs = CheckOuts(self)
        self.campaign = ""
        self._changed: dict[tuple[str, str], tuple[ChangedFile, ...]] = {}
        self._made: dict[tuple[str, str], list[Change]] = {}  # parent and commit -> what differs, of commits made here

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

    def modes(self, commit: str, folder: str = "") -> dict[str, str]:
        """Return name -> git mode of the entries of a folder ("": the root) of `commit`, a full id; none if it isn't there."""
        found = self.folders(commit, [folder]).get(folder, {})
        return {name.decode(errors="surrogateescape"): entry.mode.decode().zfill(6) for name, entry in found.items()}

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
        if OBJECT.fullmatch(old) and OBJECT.fullmatch(new):
            before, after = self.entries_at(old, paths), self.entries_at(new, paths)
            if before is not None and after is not None:
                return before != after
        status, _, stderr = self.call(["diff-tree", "--quiet", "-r", old, new, "--", *paths])
        if status not in (0, 1) and self.ref(old) and self.ref(new):
            raise gave_up("diff-tree", stderr, str(self.root))
        return status != 0

    def source_identity(self, commit: str) -> str:
        """Return one SHA-256 of all files in `commit` that a build could read: all but experiments and ledger."""
        import hashlib

        tree = self.tree(f"{commit}:") if OBJECT.fullmatch(commit) else None
        if tree is None:
            entries = self.must(["ls-tree", "-z", commit]).encode(errors="surrogateescape").split(b"\0")
        else:
            entries = [*(line(name, entry) for name, entry in tree.items()), b""]
        kept = [entry for entry in entries if entry.partition(b"\t")[2] not in (b"experiments", b"ledger.md")]
        return hashlib.sha256(b"\0".join(kept)).hexdigest()

    # ------------------------------------------------------------------ pinning

    def commits_touching(self, old: str, new: str, paths: Sequence[str]) -> tuple[str, ...]:
        """Return the commits after `old` up to `new`, along first parents and oldest first, that changed `paths`."""
        found = self.must(["log", "--first-parent", "--reverse", "--format=%H", f"{old}..{new}", "--", *paths])
        return tuple(found.split())

    def changed_files(self, base: str, tree: str) -> tuple[ChangedFile, ...]:
        """Return the files that differ between two trees, with new sizes in bytes (0 for a deleted file or a submodule)."""
        if (base, tree) in self._changed:
            return self._changed[base, tree]
        changes = [(path, new) for path, _, new in differences(self, base, tree)]
        blobs = self.read_blobs(new.id.hex() for _, new in changes if new is not None)
        found = tuple(
            ChangedFile(
                path=path,
                mode=new.mode.decode() if new is not None else DELETED,
                size=len(blobs.get(new.id.hex(), b"")) if new is not None else 0,
            )
            for path, new in changes
        )
        if OBJECT.fullmatch(base) and OBJECT.fullmatch(tree):
            keep_last(self._changed, (base, tree), found)
        return found

    def pin(self, *, base: str, tree: str, message: str, ref: str, author: str = "") -> str:
        """Commit `tree` by `author` ("": expctl) on `base`, with its date; set `ref` to the new commit, return the id."""
        new, date = self._new_in(base, tree), f"{self.committed_at(base)} +0000"
        commit = new.add("commit", commit_text(tree, (base,), message, date, AUTHOR, author)).hex()
        self._needs(new)
        if self.ref(ref) != commit:  # else it was made before, as by the head of a fleet that was killed
            self._write(new)
            self.known.name(f"{commit}:", tree)
            self._set_ref(ref, commit)
        return commit

    def commit_tree(self, *, base: str, tree: str, message: str, author: str = "") -> str:
        """Commit `tree` with parent `base` and the date of `base`; return the commit's id. No ref points to it, so git's
        garbage collection may remove it.
        """
        date = f"{self.committed_at(base)} +0000"
        return self._commit(tree=tree, parents=(base,), message=message, date=date, author=author)

    def commit_files(
        self, *, parent: str, files: Mapping[str, bytes], message: str, date: str, merged: tuple[str, str] | None = None
    ) -> str:
        """Commit the tree of `parent` with `files` (path -> contents) written into it; return the commit's id. No ref moves.
        The parent of the new commit is `parent`, or both of `merged`. It is signed if the user asks for that (signing.py).
        """
        before = self.folders(parent, folders_of(files))
        new, parents = Objects(parent), merged or (parent,)
        try:
            tree, changes = with_files(new, before, files)
        except LookupError as lost:
            raise lost_object(f"{parent}:{lost.args[0]}", str(self.root)) from lost
        except FileExistsError as clash:
            raise gave_up("update-index", f"{clash} would be both a file and a folder", str(self.root)) from clash
        signing = self._signing
        commit = "" if signing else new.add("commit", commit_text(tree, parents, message, date, AUTHOR)).hex()
        self.must(["unpack-objects", "-q"], stdin=new.pack())
        if signing:
            commit = self._commit(tree=tree, parents=parents, message=message, date=date, signing=signing)
        self._needs(new)
        keep_last(self._made, (parent, commit), changes)
        new.remember(self.known)
        self.known.name(f"{commit}:", tree)
        return commit

    def publish(self, *, branch: str, old: str, new: str, captured: Sequence[str] = (), tree: str = "") -> bool:
        """Move `branch` from commit `old` to `new`, with index and files. Return False, doing nothing, if it isn't at `old`.

        `captured` are changed files of the user that `new` has as a proposal: those that are as in `tree` are set back to HEAD.
        """
        changes = CapturedChanges(self)
        if captured:
            changes.intend(new, captured, tree)
        moved = Publication(self._checked_out(), known=self._made).publish(branch=branch, old=old, new=new)
        changes.finish()
        if moved and not any(self._are_there() for _ in range(TRIES)):
            raise misses_an_object("", str(self.root))
        self._fresh = None
        return moved

    def finish_publication(self) -> None:
        """Complete or undo what a killed command did to the branch, index and files; remove the temporary files of that."""
        Publication(self._checked_out()).recover_intended()
        files = WorkTreeFiles(self)
        files.recover()
        files.remove_temporary()
        CapturedChanges(self).finish()

    def _checked_out(self) -> GitPlumbing:
        # the repository from what is checked out, also where this is seen from another branch
        return GitPlumbing(self.place, self.known, self.server)

    def remove_leftovers(self) -> None:
        """Remove temporary files and ref locks of killed commands. Nobody else may be measuring or publishing."""
        remove_below(self.state.parent / "refs" / "expctl")
        for folder in (self.state, self.state / "builds", *self.state.glob("meanings/*")):
            atomic_write.remove_temporary_files(folder)

    @functools.cached_property
    def _signing(self) -> Mapping[str, str]:
        return signing_settings(self.root)  # read once: a command signs all that it commits, or nothing

    def _commit(
        self,
        *,
        tree: str,
        parents: Sequence[str],
        message: str,
        date: str,
        author: str = "",
        signing: Mapping[str, str] | None = None,
    ) -> str:
        env = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in IDENTITY.items()}
        if author:
            name, _, email = author.removesuffix(">").rpartition(" <")
            env |= {"GIT_AUTHOR_NAME": name, "GIT_AUTHOR_EMAIL": email}
        env |= {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
        words = ["commit-tree", tree, *(word for parent in parents for word in ("-p", parent)), "-F", "-"]
        if not signing:
            return self.must(words, stdin=message.encode(), env=env)
        status, out, stderr = self.call([*words, "-S"], stdin=message.encode(), env=env | dict(signing))
        if status:
            raise not_signed(stderr)
        return out.decode().strip()

    # ------------------------------------------------------------------ the user's changes

    def capture(self, paths: Sequence[str]) -> bytes:
        """Return the local changes below `paths` against HEAD as one patch; untracked files are in it, ignored ones aren't."""
        known = [path for path in paths if (self.root / path).exists() or self.list_files("HEAD", path)]
        with self.fresh_index("HEAD") as env:
            self.must(["add", "-A", "--", *known], env=env)
            status, out, stderr = self.call(["diff", "--cached", *PLAIN_DIFF, "HEAD", "--", *paths], env=env)
        if status:
            raise gave_up("diff", stderr, str(self.root))
        return out

    def set_back(self, paths: Sequence[str], *, tree: str) -> None:
        """Reset those files of `paths` that are as in `tree` to HEAD, in work tree and index. Other files stay as they are."""
        CapturedChanges(self).set_back(paths, tree=tree)

    def apply(self, tree: str) -> None:
        """Bring the user's files from HEAD to `tree`, each in one step; one that is as in neither stays. Raises Refused, before
        anything changes, if another file is in the way.
        """
        files, head = WorkTreeFiles(self), self.ref("HEAD")
        files.check(head, tree)
        files.stage(head, tree)
        files.update(head, tree)
        files.remove_temporary()

    def are_as_in(self, tree: str, paths: Sequence[str]) -> bool:
        """Return whether each of `paths` in the work tree is as in `tree`, or missing in both."""
        wanted = {path: self.list_files(tree, path).get(path) for path in paths}
        return all(
            self.blob_on_disk(path) == blob if blob else not os.path.lexists(self.root / path) for path, blob in wanted.items()
        )

    # ------------------------------------------------------------------ check-outs

    def check_out(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path:
        """Return the folder of a work tree with `commit` checked out, made or reused under `name`, cleaned of other files. If
        somebody edited a file at or below `sealed` in it, it is returned as it is, perhaps at another commit.
        """
        return self.check_outs.make(commit, name, sealed=sealed)

    def remove_check_outs(self) -> None:
        """Remove every work tree that expctl made."""
        self.check_outs.remove_all()
