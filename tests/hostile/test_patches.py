"""Patches that want out of their scope: refused by the tree that they make, with the user's repository as it was."""

from pathlib import Path

import pytest

from expctl.adapters.git.reader import locate
from expctl.adapters.git.workspace import GitWorkspace
from expctl.domain.errors import Refused
from expctl.domain.experiment.proposal import Kind, Prediction, Proposal, Verdict
from expctl.domain.experiment.proposal_files import Queued
from expctl.domain.protocol.model import Build, PatchLimits, Protocol, Target, Toolchain
from expctl.flow.repository.preflight import check_patch
from tests.hostile.table import TABLE, snapshot
from tests.user_repository import Repository

PROTOCOL = Protocol(
    version=1,
    name="hostile",
    scope=("src",),
    harness=("bench",),
    decides=("cpu",),
    targets={"cpu": Target(build=Build(toolchain=Toolchain.COMMAND, argv=("true",)))},
    patch=PatchLimits(files=5, bytes=10_000),
)
PROPOSAL = Proposal(id="P1", title="t", kind=Kind.PERF, hypothesis="h", prediction=Prediction(verdict=Verdict.KEEP))


@pytest.fixture(scope="module")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Repository:
    """src (kernel.c, lib/util.h, two links), bench/judge.py, and beside it a folder that is none of git's business."""
    root = tmp_path_factory.mktemp("hostile") / "repo"
    root.mkdir()
    made = Repository(root)
    made.git("init", "-q", "-b", "main")
    made.write("src/kernel.c", "one\ntwo\nthree\n")
    made.write("src/lib/util.h", "util\n")
    made.write("bench/judge.py", "verdict = compare()\n")
    (root / "src/shortcut").symlink_to("kernel.c")
    (root / "src/judges").symlink_to("../bench")
    made.git("add", "-A")
    made.git("-c", "user.name=user", "-c", "user.email=user@example.org", "commit", "-q", "-m", "first")
    (root.parent / "canary").write_text("alive\n")
    return made


@pytest.mark.parametrize(
    ("name", "proposed"), [*((name, True) for name in TABLE["patches"]), ("changes the judge", False), ("is no patch", False)]
)
def test_a_patch(name: str, proposed: bool, repository: Repository) -> None:
    case = TABLE["patches"][name]
    workspace = GitWorkspace(locate(repository.root))
    queued = Queued(proposal=PROPOSAL, patch=case["text"].encode(), content="c")
    before, head = snapshot_of_the_users(repository.root), repository.head()
    if "refused" in case:
        with pytest.raises(Refused) as caught:
            check_patch(workspace, PROTOCOL, head, queued, proposed=proposed)
        assert case["refused"] in f"{caught.value.message}\n{caught.value.found}"
    else:
        assert check_patch(workspace, PROTOCOL, head, queued, proposed=proposed)
    assert snapshot_of_the_users(repository.root) == before
    assert repository.head() == head
    assert repository.status() == ""


def snapshot_of_the_users(root: Path) -> dict[str, str]:
    """Without git's objects and our own state, which a candidate may enter."""
    found = snapshot(root.parent)
    ours = (str(root / ".git/objects"), str(root / ".git/expctl"))
    return {path: facts for path, facts in found.items() if not path.startswith(ours) and path != str(root / ".git")}
