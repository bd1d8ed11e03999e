"""Make trees without a check-out: a patch applied or merged, folders of one commit put into another."""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from secrets import token_hex

from expctl.adapters.git.commit_objects import Objects, folders_of, item_of, with_entries
from expctl.adapters.git.failures import conflict_of, gave_up
from expctl.adapters.git.index_bytes import entries_in, index_of
from expctl.adapters.git.known_objects import SUBMODULE, Entry, KnownObjects, keep_last
from expctl.adapters.git.object_server import ObjectServer
from expctl.adapters.git.plumbing import GitPlumbing, misses_an_object
from expctl.adapters.git.reader import OBJECT, Place
from expctl.adapters.git.three_way import NO_BLOB, merge_into_index
from expctl.adapters.git.tree_differences import differences
from expctl.domain.patch.merge import Merged, Whose
from expctl.domain.patch.unified_diff import no_diff, parse_diff
from expctl.domain.run.step_result import Failed

# Options of diff for a patch that git can apply again, whatever the repository's configuration says.
PLAIN_DIFF = (
    *("--no-ext-diff", "--no-textconv", "--no-color", "--no-renames", "--full-index", "--binary", "-U3", "--submodule=short"),
    *("--src-prefix=a/", "--dst-prefix=b/"),
)

APPLY = ("apply", "--cached", "--whitespace=nowarn", "-")
MERGE = ("apply", "--cached", "--3way", "--whitespace=nowarn", "-")
TRIES = 3  # of what a garbage collection can undo
FILES = (b"100644", b"100755", b"120000")
Changes = dict[str, tuple[Entry | None, Entry | None]]
"""Path -> what is there before and after (None: nothing)."""


class GitTrees(GitPlumbing):
    """Makes trees in one git repository, each in an index of its own."""

    def __init__(self, place: Place, known: KnownObjects | None = None, server: ObjectServer | None = None) -> None:
        super().__init__(place, known, server)
        self._read_tree: tuple[str, bytes] | None = None  # a commit, and the index that git made of it
        self._rebased: dict[tuple[str, str, bytes], str] = {}  # base, origin and patch -> tree
        self._gathers = False
        self._unwritten: Objects | None = None  # of a block of `gathered`
        self._refs: dict[str, str] = {}  # to be set at its end
        self._fresh: Objects | None = None  # what commits pinned or made here need, until the branch has moved

    @contextlib.contextmanager
    def gathered(self) -> Iterator[None]:
        """Candidates that are made and pinned within the block are written at its end, by two processes of git for all of them.
        What git is asked before that is asked after it has these objects. If the block fails, no ref is set.
        """
        self._gathers = True
        try:
            yield
            self._write_gathered()
            if self._refs:
                self._set_refs()
        except BaseException:  # git may lack what was made
            self._rebased.clear()
            self.known.forget()
            self._fresh = None
            raise
        finally:
            self._gathers, self._unwritten, self._refs = False, None, {}

    def call(
        self, arguments: Sequence[str], *, stdin: bytes | None = None, env: Mapping[str, str] | None = None
    ) -> tuple[int, bytes, str]:
        """Run git, as any GitPlumbing does, with all that was made so far."""
        self._write_gathered()
        return super().call(arguments, stdin=stdin, env=env)

    def _write(self, objects: Objects) -> None:
        if self._gathers:
            self._unwritten = self._unwritten or Objects(objects.ids()[0])
            self._unwritten.take(objects)
        elif not self._renewed(objects.ids()):
            self.must(["unpack-objects", "-q"], stdin=objects.pack())
        objects.remember(self.known)

    def _write_gathered(self) -> None:
        objects, self._unwritten = self._unwritten, None
        if objects is None:
            return
        try:
            self.must(["unpack-objects", "-q"], stdin=objects.pack())
        except BaseException:
            self._unwritten = objects  # to be tried again at the end
            raise

    def _set_ref(self, ref: str, commit: str) -> None:
        self._refs[ref] = commit
        if not self._gathers:
            self._set_refs()

    def _set_refs(self) -> None:
        lines, self._refs = "".join(f"update {ref} {commit}\n" for ref, commit in self._refs.items()), {}
        for _ in range(TRIES):
            status, _, stderr = self.call(["update-ref", "--stdin"], stdin=lines.encode())
            if self._are_there():
                break
        else:
            raise misses_an_object("", str(self.root))
        if status:
            raise gave_up("update-ref", stderr, str(self.root))

    def _are_there(self) -> bool:
        """Has git all that the commits pinned or made here need? What it lacks, because a garbage collection has deleted what
        no ref named yet, is written again.
        """
        if self._fresh is None:
            return True
        ids = "".join(f"{each}\n" for each in self._fresh.ids())
        is_whole = " missing" not in self.must(["cat-file", "--batch-check"], stdin=ids.encode())
        if not is_whole:
            self.must(["unpack-objects", "-q"], stdin=self._fresh.pack())
        return is_whole

    def _needs(self, objects: Objects) -> None:
        self._fresh = self._fresh or Objects(objects.ids()[0])
        self._fresh.take(objects)

    def _new_in(self, base: str, tree: str) -> Objects:
        """Return the objects of `tree` that `base` may lack. Raises Refused if git has lost a file among them."""
        new, changes = Objects(base), differences(self, base, tree)
        files = [each.id.hex() for _, _, each in changes if each is not None and each.mode != SUBMODULE]
        folders = [f"{tree}:{folder}" for folder in folders_of(path for path, _, _ in changes)]
        found = self._objects([*files, *folders], keep=False)
        if lost := next((each for each in files if each not in found), ""):
            raise misses_an_object(f"missing blob {lost}", str(self.root))
        for kind, contents in found.values():
            new.add(kind.decode(), contents)
        return new

    def candidate_tree(self, base: str, patch: bytes) -> str | Failed:
        """Return the id of the tree of `base` with `patch` applied, or Failed if it doesn't apply. Checks nothing out."""
        if fault := no_diff(patch):
            return Failed(reason=fault)
        if tree := self._with_changes(base, self._applied(base, patch, APPLY)):
            return tree
        with self.fresh_index(base) as env:
            status, _, stderr = self.call(APPLY, stdin=patch, env=env)
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
        key = (base, origin, hashlib.sha256(patch).digest())
        if key in self._rebased:
            return self._rebased[key]
        has_origin = bool(origin) and self.is_commit(origin)
        put = self._with_changes(base, self._applied(origin, patch, APPLY)) if has_origin and OBJECT.fullmatch(base) else None
        made = self.candidate_tree(origin, patch) if has_origin and put is None else None
        if isinstance(made, Failed):
            return made
        tree = put or self._merged_by_git(base, self.difference(origin, made) if made is not None else patch)
        if isinstance(tree, str) and OBJECT.fullmatch(base) and OBJECT.fullmatch(origin):
            keep_last(self._rebased, key, tree)
        return tree

    def _applied(self, origin: str, patch: bytes, words: Sequence[str]) -> Changes:
        """Return what `patch` changes in the commit `origin` by the command `words`, given of the other files their attributes
        only. Nothing if git needs these files, or refuses the patch.
        """
        paths = sorted({path for each in parse_diff(patch) for path in (each.old, each.new) if path})
        before = self.entries_at(origin, paths) if paths and OBJECT.fullmatch(origin) else None
        attributes = self.attributes_above(origin, paths) if before is not None else None
        items = {path: item_of(each) for path, each in zip(paths, before or (), strict=False) if each is not None}
        others = {path: item_of(each) for path, each in (attributes or {}).items() if path not in items}
        if before is None or attributes is None or not items:
            return {}
        if any(each.mode not in FILES for each in (*before, *attributes.values()) if each is not None):
            return {}
        with self._scratch_index() as (index, env):
            index.write_bytes(index_of(items | others))
            ask = super().call if words is APPLY else self.call  # which looks at nothing but index and patch
            if ask(words, stdin=patch, env=env)[0]:
                return {}
            after = entries_in(index.read_bytes(), origin)
        if after is None or not after.keys() <= {*paths, *others}:
            return {}
        entries = {path: Entry(each.mode.encode(), bytes.fromhex(each.blob)) for path, each in after.items()}
        return {path: (old, entries.get(path)) for path, old in zip(paths, before, strict=True) if old != entries.get(path)}

    def _with_changes(self, base: str, changes: Changes) -> str | None:
        """Return the id of the tree of `base` with these changes, if `base` has the files as they were before, so that there is
        nothing to merge. None if it has not.
        """
        if not changes or self.entries_at(base, changes) != [old for old, _ in changes.values()]:
            return None
        self.read_ahead(new.id.hex() for _, new in changes.values() if new is not None)  # no ref names them yet
        objects = Objects(base)
        try:
            tree = with_entries(
                objects, self.folders(base, folders_of(changes)), {path: new for path, (_, new) in changes.items()}
            ).hex()
        except (LookupError, FileExistsError):
            return None
        self._write(objects)
        return tree

    def _renewed(self, ids: Sequence[str]) -> bool:
        """Has git all these objects, in files of their own? These are then as new as if written again, because a garbage
        collection that is under way deletes old objects that nothing names.
        """
        with contextlib.suppress(OSError):
            for each in ids:
                os.utime(self.state.parent / "objects" / each[:2] / each[2:])
            return all(each.id for each in self._answers(ids))
        return False

    def _merged_by_git(self, base: str, patch: bytes) -> str | Failed:
        if tree := self._with_changes(base, self._applied(base, patch, MERGE)):
            return tree
        with self.fresh_index(base) as env:
            status, _, stderr = self.call(MERGE, stdin=patch, env=env)
            if status:
                why = conflict_of(stderr, "the same lines of {} changed meanwhile")
                return Failed(reason=why or "git apply --3way refused it")
            return self.must(["write-tree"], env=env)

    def merged_tree(
        self, base: str, ours: str, theirs: str, *, name: str, whose: Callable[[str], Whose] = lambda _: Whose.BOTH
    ) -> Merged:
        """Merge the trees `ours` and `theirs`, both made from `base`. Conflict markers call theirs `name`."""
        with self.fresh_index(ours) as env:
            return merge_into_index(self, env, base=base, ours=ours, theirs=theirs, name=name, whose=whose)

    def difference(self, old: str, new: str) -> bytes:
        """Return the patch that turns tree `old` into `new`, in a form that `candidate_tree` can apply."""
        with self._scratch_index() as (_, env):  # none: git reads all of the user's, for nothing but attributes
            status, patch, stderr = self.call(
                ["diff-tree", "-p", *PLAIN_DIFF, old, new], env=env if self._has_no_attributes(old, new) else None
            )
        if status:
            raise gave_up("diff-tree", stderr, str(self.root))
        return patch

    def _has_no_attributes(self, old: str, new: str) -> bool:
        if not (OBJECT.fullmatch(old) and OBJECT.fullmatch(new)):
            return False
        paths = [path for path, _, _ in differences(self, old, new)]
        return all(self.attributes_above(each, paths) == {} for each in (old, new))

    def tree_with(self, head: str, other: str, paths: Sequence[str]) -> str:
        """Return the id of a new tree: that of commit `head`, with everything at or below `paths` as in commit `other`."""
        gone = [f"0 {NO_BLOB}\t{path}" for each in paths for path in self.list_files(head, each)]
        there = self.must(["ls-tree", "-r", "-z", other, "--", *paths]).split("\0")
        entries = "".join(f"{entry}\0" for entry in (*gone, *there) if entry)
        with self.fresh_index(head) as env:
            self.must(["update-index", "-z", "--index-info"], stdin=entries.encode(errors="surrogateescape"), env=env)
            return self.must(["write-tree"], env=env)

    def reapplied_tree(self, tree: str, commit: str, paths: Sequence[str]) -> str | Failed:
        """Return the id of a new tree: `tree` with the changes that `commit` made in `paths`; or Failed if they conflict. It is
        a three-way merge as for a cherry-pick: the merge base is the first parent of `commit`, renamed files are followed.
        """
        status, patch, stderr = self.call(["diff", *PLAIN_DIFF, "--find-renames", f"{commit}^", commit, "--", *paths])
        if status:
            raise gave_up("diff", stderr, str(self.root))
        with self.fresh_index(tree) as env:
            status, _, stderr = self.call(MERGE, stdin=patch, env=env) if patch else (0, b"", "")
            if status:
                return Failed(reason=conflict_of(stderr, "conflict in {}") or "git apply --3way refused it")
            return self.must(["write-tree"], env=env)

    @contextlib.contextmanager
    def fresh_index(self, commit: str) -> Iterator[dict[str, str]]:
        """Make an index of `commit` within the block, and yield the environment in which git uses it: one of our own, so that
        neither the user's is touched nor that of another expctl.
        """
        with self._scratch_index() as (index, env):
            if self._read_tree and self._read_tree[0] == commit:
                index.write_bytes(self._read_tree[1])
            else:
                self.must(["read-tree", commit], env=env)
                self._read_tree = (commit, index.read_bytes()) if OBJECT.fullmatch(commit) else None
            yield env

    @contextlib.contextmanager
    def _scratch_index(self) -> Iterator[tuple[Path, dict[str, str]]]:
        index = self.state / f".scratch.{token_hex(8)}.new"
        try:
            yield index, {"GIT_INDEX_FILE": str(index)}
        finally:
            for file in (index, index.with_name(f"{index.name}.lock")):
                file.unlink(missing_ok=True)
