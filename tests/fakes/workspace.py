"""A repository in memory: commits are dicts of files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from expctl.domain.errors import Refused
from expctl.domain.patch.changed_file import ChangedFile
from expctl.domain.patch.merge import Merged, Whose
from expctl.domain.run.step_result import Failed

Files = dict[str, bytes]


@dataclass(frozen=True)
class Commit:
    """One commit of the fake repository."""

    parent: str
    files: Files
    message: str


@dataclass
class FakeWorkspace:
    """A repository in memory: commits by content, one branch checked out. A patch is JSON: path -> new text or null."""

    commits: dict[str, Commit] = field(default_factory=dict)
    refs: dict[str, str] = field(default_factory=dict)
    authors: dict[str, str] = field(default_factory=dict)
    committed_by: str = ""
    checked_out: str = "main"
    campaign: str = ""
    root: Path = Path("/fake")
    state: Path = Path("/fake/.git/expctl")
    local_changes: tuple[str, ...] = ()
    operation: str = ""
    check_outs: set[str] = field(default_factory=set)
    sealed: dict[str, tuple[str, ...]] = field(default_factory=dict)
    publications: int = 0
    removals: int = 0
    move_before_publishing: list[str] = field(default_factory=list)
    merges: dict[str, str] = field(default_factory=dict)
    edited: str = ""

    def add(self, parent: str, files: Files, message: str) -> str:
        """Make a commit; the same contents give the same id."""
        listing = sorted((path, text.decode("latin1")) for path, text in files.items())
        name = hashlib.sha256(json.dumps([parent, message, listing]).encode()).hexdigest()[:12]
        self.commits[name] = Commit(parent, dict(files), message)
        return name

    def branch(self) -> str:
        return self.checked_out

    def head(self) -> str:
        return self.refs[f"refs/heads/{self.checked_out}"]

    def lacks(self, branch: str) -> bool:
        name = f"refs/heads/{branch}"
        return name in self.refs and not self.is_ancestor(name, self.head())

    def branch_head(self, branch: str) -> str:
        return self.refs[f"refs/heads/{branch}"]

    def list_files(self, commit: str, folder: str) -> dict[str, str]:
        files = self.commits[commit].files
        return {path: path for path in files if path == folder or path.startswith(f"{folder.rstrip('/')}/")}

    def modes(self, commit: str, folder: str = "") -> dict[str, str]:
        above = f"{folder}/" if folder else ""
        inside = [path.removeprefix(above) for path in self.commits[commit].files if path.startswith(above)]
        return {path.split("/")[0]: "040000" if "/" in path else "100644" for path in inside}

    def parent(self, commit: str) -> str:
        return self.commits[commit].parent

    def files_identity(self, commit: str, paths: Sequence[str]) -> str:
        files = self.commits[commit].files
        kept = {path: text.decode() for path, text in files.items() if path.startswith(tuple(paths))}
        return f"protocol of {sorted(kept.items())}"

    def source_identity(self, commit: str) -> str:
        kept = {p: t.decode() for p, t in self.commits[commit].files.items() if not p.startswith(("experiments", "ledger"))}
        return hashlib.sha256(json.dumps(sorted(kept.items())).encode()).hexdigest()

    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]:
        return tuple(path for path in self.local_changes if path.startswith(tuple(paths)))

    def unfinished_operation(self) -> str:
        return self.operation

    def candidate_tree(self, base: str, patch: bytes) -> str | Failed:
        try:
            changes = json.loads(patch)
        except ValueError:
            return Failed(reason="No valid patches in input")
        files = dict(self.commits[base].files)
        for path, text in changes.items():
            if text is None:
                files.pop(path)
            elif text.startswith("was:"):
                _, old, new = text.split(":")
                if files.get(path) != old.encode():
                    return Failed(reason=f"patch failed: {path}:1")
                files[path] = new.encode()
            else:
                files[path] = text.encode()
        return self.add("", files, "tree")

    def read_file(self, commit: str, path: str) -> bytes | None:
        return self.commits[commit].files.get(path)

    def difference(self, old: str, new: str) -> bytes:
        changed = {file.path: self.commits[new].files[file.path].decode() for file in self.changed_files(old, new)}
        return json.dumps(changed).encode()

    def rebased_tree(self, base: str, patch: bytes, *, origin: str) -> str | Failed:
        """`was:OLD:NEW` merges where the file is OLD still; whatever else is written over."""
        assert not origin or origin in self.commits
        return self.candidate_tree(base, patch)

    def changed_files(self, base: str, tree: str) -> tuple[ChangedFile, ...]:
        old, new = self.commits[base].files, self.commits[tree].files
        return tuple(
            ChangedFile(path=path, mode="100644" if path in new else "000000", size=len(new.get(path, b"")))
            for path in sorted({*old, *new})
            if old.get(path) != new.get(path)
        )

    def merged_tree(
        self, base: str, ours: str, theirs: str, *, name: str, whose: Callable[[str], Whose] = lambda _: Whose.BOTH
    ) -> Merged:
        """A file merges as a whole; one that both changed is in conflict, unless `whose` knows better."""
        assert name
        before, here, there = (self.commits[each].files for each in (base, ours, theirs))
        files, conflicts = dict(here), []
        for path in {file.path for file in self.changed_files(base, theirs)}:
            both = here.get(path) not in (before.get(path), there.get(path))
            if not both or whose(path) is Whose.THEIRS:
                files.pop(path, None)
                files |= {path: there[path]} if path in there else {}
            elif whose(path) is Whose.BOTH:
                conflicts.append(path)
        return Merged(tree=self.add("", files, "tree"), conflicts=tuple(sorted(conflicts)))

    def merge_base(self, one: str, other: str) -> str:
        return next(each for each in self._line(one) if self.is_ancestor(each, other))

    def patch_identity(self, patch: bytes) -> str:
        return hashlib.sha256(patch).hexdigest()[:8]

    def read_patch_identities(self, patches: Sequence[bytes]) -> None:
        pass

    def author(self) -> str:
        return "A. User <user@example.org>"

    def who_added(self, commit: str, path: str) -> str:
        return self.committed_by or f"Who added {path} <{commit}@example.org>"

    def gathered(self) -> AbstractContextManager[None]:
        return nullcontext()

    def pin(self, *, base: str, tree: str, message: str, ref: str, author: str = "") -> str:
        self.authors[ref] = author
        self.refs[ref] = self.add(base, self.commits[tree].files, message)
        return self.refs[ref]

    def commit_tree(self, *, base: str, tree: str, message: str, author: str = "") -> str:  # noqa: ARG002
        return self.add(base, self.commits[tree].files, message)

    def tree_with(self, head: str, other: str, paths: Sequence[str]) -> str:
        kept = {path: text for path, text in self.commits[head].files.items() if not path.startswith(tuple(paths))}
        others = {path: text for path, text in self.commits[other].files.items() if path.startswith(tuple(paths))}
        return self.add("", {**kept, **others}, "tree")

    def reapplied_tree(self, tree: str, commit: str, paths: Sequence[str]) -> str | Failed:
        """A file merges as a whole: where it is as before the commit, or already as after it."""
        files, before = dict(self.commits[tree].files), self.commits[self.commits[commit].parent].files
        for file in self.changed_files(self.commits[commit].parent, commit):
            if file.path.startswith(tuple(paths)):
                after = self.commits[commit].files.get(file.path)
                if files.get(file.path) not in (before.get(file.path), after):
                    return Failed(reason=f"conflict in {file.path}")
                files.pop(file.path, None)
                files |= {file.path: after} if after is not None else {}
        return self.add("", files, "tree")

    def commits_touching(self, old: str, new: str, paths: Sequence[str]) -> tuple[str, ...]:
        found = []
        while new != old:
            found += [new] if self.differs(self.commits[new].parent, new, paths) else []
            new = self.commits[new].parent
        return tuple(reversed(found))

    def commit_files(
        self, *, parent: str, files: Mapping[str, bytes], message: str, date: str, merged: tuple[str, str] | None = None
    ) -> str:
        commit = self.add(merged[0] if merged else parent, {**self.commits[parent].files, **files}, f"{message}{date}")
        self.merges |= {commit: merged[1]} if merged else {}
        return commit

    def start_branch(self, branch: str, commit: str) -> None:
        self.refs.setdefault(f"refs/heads/{branch}", commit)

    def publish(self, *, branch: str, old: str, new: str, captured: Sequence[str] = (), tree: str = "") -> bool:
        self.publications += 1
        if self.publications > 20:
            raise AssertionError("the flow publishes for ever")
        if self.edited and branch == self.checked_out and self.differs(old, new, (self.edited,)):
            raise Refused("a local change is in the way of the result", code="local-change-in-the-way", found=self.edited)
        if self.move_before_publishing:
            self.refs[f"refs/heads/{branch}"] = self.move_before_publishing.pop()
        if self.refs[f"refs/heads/{branch}"] != old:
            return False
        self.refs[f"refs/heads/{branch}"] = new
        self.set_back(captured, tree=tree or new)
        return True

    def finish_publication(self) -> None:
        """Nothing is ever half done here; adapters/test_git_publication.py is about that."""

    def remove_leftovers(self) -> None:
        """Nothing is left over here either."""

    def is_commit(self, name: str) -> bool:
        return self.refs.get(name, name) in self.commits

    def is_ancestor(self, old: str, new: str) -> bool:
        return self.refs.get(old, old) in self._line(self.refs.get(new, new))

    def _line(self, commit: str) -> list[str]:
        line = [commit]
        for each in line:
            line += [parent for parent in (self.commits[each].parent, self.merges.get(each, "")) if parent]
        return line

    def differs(self, old: str, new: str, paths: Sequence[str]) -> bool:
        return any(file.path.startswith(tuple(paths)) for file in self.changed_files(old, new))

    def capture(self, paths: Sequence[str]) -> bytes:
        return json.dumps(dict.fromkeys(self.dirty(paths), "captured")).encode()

    def set_back(self, paths: Sequence[str], *, tree: str) -> None:
        assert tree in self.commits
        self.local_changes = tuple(path for path in self.local_changes if path not in paths)

    def apply(self, tree: str) -> None:
        self.local_changes = (*self.local_changes, *(file.path for file in self.changed_files(self.head(), tree)))

    def are_as_in(self, tree: str, paths: Sequence[str]) -> bool:
        assert tree in self.commits
        return not paths

    def check_out(self, commit: str, name: str, *, sealed: Sequence[str] = ()) -> Path:
        assert commit in self.commits
        self.check_outs.add(name)
        self.sealed[name] = tuple(sealed)
        return self.root / name / commit

    def remove_check_outs(self) -> None:
        self.removals += 1
        self.check_outs.clear()

    def edit(self, files: Mapping[str, bytes | None], message: str = "by the user") -> str:
        """The user commits on the branch that is checked out."""
        changed = {**self.commits[self.head()].files, **files}
        commit = self.add(self.head(), {path: text for path, text in changed.items() if text is not None}, message)
        self.refs[f"refs/heads/{self.checked_out}"] = commit
        return commit


@dataclass
class FakeView:
    """The repository as a campaign on `campaign` sees it."""

    tree: FakeWorkspace
    campaign: str

    def __getattr__(self, name: str) -> Any:
        return getattr(self.tree, name)

    def branch(self) -> str:
        return self.campaign

    def head(self) -> str:
        return self.tree.branch_head(self.campaign)

    def dirty(self, paths: Sequence[str]) -> tuple[str, ...]:  # noqa: ARG002
        return ()

    def unfinished_operation(self) -> str:
        return ""
