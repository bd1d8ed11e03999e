"""Check repository, targets and patch before anything is changed. Every check raises Refused."""

from collections.abc import Sequence
from dataclasses import dataclass

from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.patch.merge import Merged
from expctl.domain.patch.policy import FOLDER, REGULAR, has_unfit_name, patch_faults, tree_faults
from expctl.domain.patch.unified_diff import parse_diff
from expctl.domain.protocol.model import Protocol, inside
from expctl.domain.run.step_result import Available, Failed, Unavailable
from expctl.domain.text import one_line
from expctl.ports.measuring import Toolchains
from expctl.ports.repository import Workspace


@dataclass(frozen=True, slots=True, kw_only=True)
class Targets:
    """The targets of a run: the one to be timed, the guards (built and tested only), a sentence for each unavailable one."""

    deciding: str
    guards: tuple[str, ...]
    absent: tuple[str, ...]


def check_workspace(workspace: Workspace, scope: tuple[str, ...], *experiments: str, dirty: Sequence[str] | None = None) -> str:
    """Return the branch's name. Raises Refused on local changes in `scope`, in folders of `experiments` or in ledger.md. Also
    raises Refused on a detached HEAD and during a merge, rebase or the like. `dirty`: the local changes, if known.
    """
    branch = check_branch(workspace)
    if dirty is None:
        dirty = workspace.dirty([*scope, *(f"experiments/{experiment}" for experiment in experiments), "ledger.md"])
    in_scope = [path for path in dirty if inside(path, scope)]
    if in_scope:
        unfit = next((path for path in in_scope if has_unfit_name(path, scope)), "")
        raise Refused(
            "the kernel scope has changes that are not committed",
            code="scope-not-committed",
            expected=f"{', '.join(scope)} as in HEAD",
            found=_listed(in_scope),
            where=str(workspace.root),
            hint=f"move {unfit!r} out of the scope: no experiment may have a file of this name"
            if unfit
            else "expctl new --from-diff captures them as an experiment and restores the scope; nothing is lost",
        )
    if dirty:
        raise Refused(
            "files that expctl writes have changes that are not committed",
            code="own-files-not-committed",
            expected=f"{', '.join((*(f'experiments/{experiment}' for experiment in experiments), 'ledger.md'))} as in HEAD",
            found=_listed(dirty),
            where=str(workspace.root),
            hint=f"git add {dirty[0]} && git commit -m 'Update {dirty[0]}'; or git checkout {dirty[0]} to drop the change",
        )
    return branch


def check_branch(workspace: Workspace) -> str:
    """Return the name of the branch. Raises Refused on a detached HEAD or an unfinished merge, rebase or the like."""
    branch = workspace.branch()
    if not branch:
        raise Refused(
            "HEAD is detached",
            code="head-detached",
            expected="a branch that a KEEP can move",
            found=f"commit {workspace.head()[:10]}",
            where=str(workspace.root),
            hint="git switch main (or git switch -c NAME), then run again",
        )
    operation = workspace.unfinished_operation()
    if operation:
        raise Refused(
            f"a {operation} is under way",
            code="git-operation-under-way",
            expected="no unfinished git operation",
            found=f"a {operation} in {workspace.root}",
            hint=f"finish it or git {operation} --abort, then run again",
        )
    return branch


def check_tree(workspace: Workspace, protocol: Protocol, commit: str) -> None:
    """Raise Refused if `commit` lacks a path of the harness, or has a ledger.md or `experiments` of the wrong kind. ledger.md
    must be a file or absent, `experiments` a folder or absent.
    """
    modes = workspace.modes(commit)
    found = [
        f"{name} has git mode {modes[name]}"
        for name, mode in (("ledger.md", REGULAR), ("experiments", FOLDER))
        if modes.get(name, mode) != mode
    ]
    found += [
        f"harness: {path} does not exist, so it protects nothing"
        for path in protocol.harness
        if not workspace.list_files(commit, path)
    ]
    if found:
        raise Refused(
            "the baseline is not laid out as expctl needs it",
            code="baseline-layout-unfit",
            expected="ledger.md: absent or a file (git mode 100644); experiments: absent or a folder (git mode 040000);"
            " every path that protocol.yaml lists under `harness`: present",
            found="\n".join(found),
            where=f"commit {commit[:10]}",
            hint="correct what is listed and commit; 100755 is an executable file, 120000 a symbolic link, 160000 a submodule",
        )


def check_free(workspace: Workspace, commit: str, *experiments: str) -> None:
    """Raise Refused if `commit` has a file with the name of a folder of one of `experiments`."""
    modes = workspace.modes(commit, "experiments")
    in_the_way = [f"experiments/{each}" for each in experiments if modes.get(each, FOLDER) != FOLDER]
    if in_the_way:
        raise Refused(
            "a file is where the folder of an experiment has to be",
            code="experiment-folder-taken",
            expected="nothing of that name",
            found=_listed(in_the_way),
            where=f"commit {commit[:10]}",
            hint=f"git mv {in_the_way[0]} elsewhere and commit, or take another id",
        )


def choose_targets(protocol: Protocol, toolchains: Toolchains, wanted: str) -> Targets:
    """Choose the target to be timed (`wanted`; "": the first available that may decide); all others are only built and tested.
    Raises Refused if `wanted` may not decide, or if no target that may can be built and measured on this machine.
    """
    answers = {name: toolchains.availability(name, target) for name, target in protocol.targets.items()}
    absent = {name: answer for name, answer in answers.items() if isinstance(answer, Unavailable)}
    if wanted and wanted not in protocol.decides:
        here = [name for name in protocol.decides if name not in absent]
        raise Refused(
            f"{one_line(wanted, 60)} is not a target whose timing may decide a verdict",
            code="target-does-not-decide",
            expected=f"one of {', '.join(protocol.decides)}",
            found=f"{one_line(wanted, 60)}, {'which only guards' if wanted in answers else 'which protocol.yaml lacks'}",
            where="protocol.yaml, list `decides`",
            hint=f"--target {(here or protocol.decides)[0]}",
        )
    candidates = [wanted] if wanted else list(protocol.decides)
    deciding = next((name for name in candidates if isinstance(answers[name], Available)), "")
    if not deciding:
        raise Refused(
            f"{wanted or 'every deciding target'} is unavailable here",
            code="target-unavailable",
            expected="a target that can be built and measured on this machine",
            found="\n".join(f"{name}: unavailable: {absent[name].reason}" for name in candidates),
            hint="; ".join(dict.fromkeys(absent[name].hint for name in candidates)),
        )
    guards = tuple(name for name, answer in answers.items() if name != deciding and isinstance(answer, Available))
    return Targets(
        deciding=deciding, guards=guards, absent=tuple(f"{name}: unavailable: {a.reason}" for name, a in absent.items())
    )


def check_patch(workspace: Workspace, protocol: Protocol, base: str, queued: Queued, *, proposed: bool = True) -> str:
    """Return the git tree of the commit `base` with the patch. Raises Refused if it doesn't apply or changes forbidden files.
    With `proposed`, a patch made on another commit is merged. Without, it is yet to be proposed and must apply as it is.
    """
    name = queued.proposal.id
    where = f"experiments/{name}/change.patch" if proposed else "the patch that was given"
    again = f"expctl show {name} --apply merges it into your files, with markers at the conflicts; propose it under a new id"
    _refuse_unfit(patch_faults(queued.patch, protocol.patch), protocol, where)
    tree = tree_on(workspace, base, queued) if proposed else workspace.candidate_tree(base, queued.patch)
    if isinstance(tree, Failed):
        raise Refused(
            f"{name} is BLOCKED: its patch does not apply to the baseline" if proposed else "the patch does not apply",
            code="patch-does-not-apply",
            expected=f"a unified diff against {base[:10]}",
            found=one_line(tree.reason),
            where=where,
            hint=again if proposed else "make the change in the work tree instead, then expctl new --from-diff",
        )
    names = [path for folder in protocol.scope for path in workspace.list_files(tree, folder)]
    tables = tuple(target.tune.tables for target in protocol.targets.values() if target.tune is not None)
    faults = tree_faults(workspace.changed_files(base, tree), protocol.scope, protocol.patch, names, tables)
    _refuse_unfit(faults, protocol, where)
    return tree


def marked_tree(workspace: Workspace, protocol: Protocol, base: str, queued: Queued) -> Merged:
    """Return the git tree of the commit `base` with the patch, merged with conflict markers where it doesn't apply. Raises
    Refused as `check_patch` does, also if the patch doesn't apply to the commit that it was made on.
    """
    try:
        return Merged(tree=check_patch(workspace, protocol, base, queued))
    except Refused as refusal:
        origin = queued.ticket.base if queued.ticket is not None else ""
        made = workspace.candidate_tree(origin, queued.patch) if origin and workspace.is_commit(origin) else None
        if refusal.code != "patch-does-not-apply":
            raise
        if not isinstance(made, str):
            refusal.hint = f"expctl show {queued.proposal.id}; make the change again, and propose it under a new id"
            raise
        return workspace.merged_tree(origin, base, made, name=queued.proposal.id)


def _refuse_unfit(faults: list[str], protocol: Protocol, where: str) -> None:
    if faults:
        raise Refused(
            "the patch changes what an experiment may not change",
            code="patch-not-allowed",
            expected=f"changes of regular files in {', '.join(protocol.scope)}",
            found="\n".join(one_line(fault) for fault in faults[:10]),
            where=where,
            hint="an experiment changes the kernel only; change harness, build or protocol in a commit of your own",
        )


def tree_on(workspace: Workspace, base: str, queued: Queued) -> str | Failed:
    """Return the git tree of `base` with the patch; a patch made on another commit is merged. Failed if it doesn't apply."""
    origin = queued.ticket.base if queued.ticket is not None else ""
    if origin and origin != base:
        return workspace.rebased_tree(base, queued.patch, origin=origin)
    tree = workspace.candidate_tree(base, queued.patch)
    return workspace.rebased_tree(base, queued.patch, origin="") if isinstance(tree, Failed) and not origin else tree


def patch_on(workspace: Workspace, base: str, queued: Queued) -> bytes:
    """Return the queued patch as a diff against `base`: one made on another commit is merged if the files it changes differ
    there. It stays unchanged if they don't, or if that fails.
    """
    origin = queued.ticket.base if queued.ticket is not None else ""
    tree = tree_on(workspace, base, queued) if origin not in ("", base) else None
    if not isinstance(tree, str):
        return queued.patch
    paths = {path for each in parse_diff(queued.patch) for path in (each.old, each.new) if path}
    paths |= {each.path for each in workspace.changed_files(base, tree)}
    return workspace.difference(base, tree) if workspace.differs(origin, base, sorted(paths)) else queued.patch


def moved_meanwhile(workspace: Workspace, head: str) -> Refused:
    """Return (not raise) the error for a branch that moved away from `head` while the command ran."""
    return Refused(
        f"{workspace.branch() or 'HEAD'} moved while the command ran",
        code="branch-moved",
        expected=f"the branch at {head[:10]}",
        found=workspace.head()[:10],
        hint="run the same command again; your files were not touched",
    )


def _listed(paths: Sequence[str]) -> str:
    shown = ", ".join(one_line(path if path.isprintable() else repr(path), 80) for path in paths[:5])
    return shown + (f" and {len(paths) - 5} more" if len(paths) > 5 else "")
