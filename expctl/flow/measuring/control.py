"""Show the measuring path a known slower and a known faster stand-in of the kernel before its verdicts count."""

from expctl.domain.run.step_result import Failed
from expctl.flow.measuring.setup import Setup


def slowed_commit(setup: Setup) -> str | Failed:
    """Return a commit of HEAD with the control patch, which makes the kernel slower by a known share; Failed if it doesn't fit.

    The commit has no ref. Lines that moved since the patch was made are found by a three-way merge.
    """
    workspace, control = setup.context.workspace, setup.benchmark.control
    if control is None:
        return Failed(reason=f"protocol.yaml names no control for {setup.name}")
    patch = workspace.read_file(setup.head, control.patch)
    if patch is None:
        return Failed(reason=f"{control.patch} is not in commit {setup.head[:10]}")
    tree = workspace.candidate_tree(setup.head, patch)
    if isinstance(tree, Failed):
        merged = workspace.rebased_tree(setup.head, patch, origin="")
        tree = tree if isinstance(merged, Failed) else merged
    if isinstance(tree, Failed):
        return tree
    return workspace.commit_tree(base=setup.head, tree=tree, message="HEAD, slower by a known share\n")
