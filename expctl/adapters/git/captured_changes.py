"""Set the user's changes back to HEAD once they are queued as a proposal, also after a kill in between.

What is to be set back is written to disk before the proposal is published. Whoever finishes that publication finishes this.
"""

from collections.abc import Sequence

from expctl.adapters.git.plumbing import GitPlumbing
from expctl.adapters.git.work_tree import WorkTreeFiles
from expctl.files import checked_json

SCHEMA = 1


class CapturedChanges:
    """The user's changes that became the patch of a proposal, in the work tree of `workspace`."""

    def __init__(self, workspace: GitPlumbing) -> None:
        self._ws = workspace
        self._intent = workspace.state / "captured.json"

    def intend(self, commit: str, paths: Sequence[str], tree: str) -> None:
        """Note that those files of `paths` that are as in `tree` are to be set back to HEAD once HEAD contains `commit`."""
        where = {"work_tree": self._ws.tree_name(), "root": str(self._ws.root)}
        checked_json.write(self._intent, {"schema": SCHEMA, **where, "commit": commit, "paths": list(paths), "tree": tree})

    def finish(self) -> None:
        """Do what was intended, or drop it if the commit wasn't published or the note is damaged: the files then stay as they
        are, and the proposal has the changes. Nothing happens in another work tree than the one of the note.
        """
        try:
            noted = checked_json.read(self._intent)
        except FileNotFoundError:
            return
        except checked_json.Damaged:
            self._intent.unlink()
            return
        if noted["work_tree"] != self._ws.tree_name():
            return
        if self._ws.call(["merge-base", "--is-ancestor", noted["commit"], "HEAD"])[0] == 0:
            self.set_back(noted["paths"], tree=noted["tree"])
        self._intent.unlink()

    def set_back(self, paths: Sequence[str], *, tree: str) -> None:
        """Reset those files of `paths` that are as in `tree` to HEAD, in work tree and index. Other files stay as they are."""
        if not paths:
            return
        files, now = WorkTreeFiles(self._ws), self._ws.ref("HEAD")
        files.stage(tree, now)
        files.update(tree, now, only=paths)
        files.remove_temporary()
        head = {path: blob for each in paths for path, blob in self._ws.list_files("HEAD", each).items()}
        back = [path for path in paths if self._ws.blob_on_disk(path) == head.get(path, "")]
        if kept := [path for path in back if head.get(path)]:
            self._ws.call(["add", "-u", "--", *kept])  # git takes another size for a change, even where line ends alone differ
        if back:
            self._ws.call(["reset", "-q", "HEAD", "--", *back])
