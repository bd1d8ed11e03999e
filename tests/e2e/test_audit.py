"""`expctl audit`, whole: a stack of real KEEPs measured again, one change left out at a time, and a lost gain found."""

from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign
from tests.refusals import printed_code

ATTEMPTS = 3
"""An audit measures for seconds: beside another test its intervals may be too wide to see the loss."""

KERNEL = """\
FIRST = {first}

# far enough apart,
# so that each change
# reverts without the others

SECOND = {second}

# and
# once
# more

THIRD = {third}


def total(values):
    for _ in range(FIRST + SECOND + THIRD):
        sum(values)
    return sum([value * value for value in values])
"""


def kernel(first: int, second: int, third: int) -> str:
    return KERNEL.format(first=first, second=second, third=third)


@pytest.fixture(scope="module")
def once_stacked(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    repository = Foreign.of("foreign_repository", tmp_path_factory.mktemp("stacked"))
    repository.write("src/total.py", kernel(20, 20, 4))
    repository.concluded("ledger")
    repository.commit("a kernel with three costs")
    repository.propose("P1", kernel(10, 20, 4))
    keep(repository, "P1")
    repository.propose("P2", kernel(10, 10, 4))
    keep(repository, "P2")
    return repository


def keep(repository: Foreign, experiment: str) -> None:
    """Run an experiment that is faster; beside other work it may need more rounds."""
    said = repository.concluded("run", experiment).out
    assert "KEEP" in said or "KEEP" in repository.concluded("run", experiment, "--extend").out, said


@pytest.fixture
def stacked(once_stacked: Foreign, tmp_path: Path) -> Foreign:
    """Two experiments that were kept: about +25 % and +35 %."""
    return once_stacked.copy(tmp_path / "copy")


def test_a_stack_that_keeps_its_promise_and_each_change_of_it(stacked: Foreign) -> None:
    before = stacked.snapshot()
    said = stacked.concluded("audit", "--leave-one-out").out
    assert "audit of here, epoch 1: " in said
    assert "\n  stack      P1, P2\n" in said
    assert "\n  so         the stack gives what the records promise, within their intervals\n" in said, said
    assert said.count("still a gain") == 2, said
    assert said.endswith("  nothing was committed\n")
    assert stacked.snapshot() == before
    stacked.check_nothing_is_left()


def test_six_changes_of_one_file_are_left_out_or_say_which_change_needs_them(stacked: Foreign) -> None:
    """P1 and P2, then four by hand, of which the second takes back a part of the first."""
    names = ["P1", "P2"]
    for first, second, third in ((8, 10, 1), (10, 10, 1), (4, 10, 1), (4, 4, 1)):
        stacked.write("src/total.py", kernel(first, second, third))
        stacked.commit("by hand")
        names.append(f"{stacked.head()[:7]} by hand")
    plainly = []
    for commit in stacked.git("log", "--reverse", "--format=%H", "-6", "--", "src").split():
        stacked.git("revert", "--no-commit", commit, check=False)
        plainly.append("UU src/total.py" not in stacked.git("status", "--porcelain"))
        stacked.git("reset", "-q", "--hard")
    assert plainly == [False, False, False, False, True, True]
    before = stacked.snapshot()
    found = stacked.concluded("audit", "--leave-one-out", "--json").json()
    assert found["layers"] == names
    needed = {each["name"]: each.get("needed_by", "") for each in found["left_out"]}
    assert needed == dict(zip(names, [names[2], names[5], "", names[4], "", ""], strict=True))
    said = {each["name"]: each["contest"] for each in found["left_out"]}
    assert said["P1"]["note"] == (
        f"{names[2]} depends on it and can't be applied without it: conflict in src/total.py; not measured"
    )
    assert [name for name in names if said[name].get("estimates")] == [names[2], names[4], names[5]]
    assert stacked.snapshot() == before
    stacked.check_nothing_is_left()


def test_a_lost_gain_is_found_where_it_was_lost_and_kept_on_request(stacked: Foreign) -> None:
    stacked.write("src/total.py", kernel(10, 10, 20))
    stacked.commit("by hand")
    culprit = stacked.head()
    stacked.propose("P3", kernel(1, 10, 20))
    assert "KEEP" in stacked.concluded("run", "P3").out
    before = stacked
    for attempt in range(ATTEMPTS):
        stacked = before.copy(before.root.parents[1] / f"audited {attempt}")
        found = stacked.concluded("audit", "--bisect", "--record", "--json").json()
        if found["falls_short"]:
            break
    assert found["layers"] == ["P1", "P2", f"{culprit[:7]} by hand", "P3"]
    assert found["falls_short"]
    assert found["bisection"]["culprit"] == f"{culprit[:7]} by hand"
    assert found["bisection"]["commit"] == culprit
    assert found["bisection"]["own"]["verdict"] == "REJECT"
    assert found["finding"] == "F1"
    assert stacked.changed_by(stacked.head()) == ["experiments/findings.yaml", "ledger.md"]
    ledger = " ".join((stacked.root / "ledger.md").read_text().split())
    assert "**F1** Audit of here, epoch 1: " in ledger
    assert f"the gain was lost at {culprit[:7]} by hand." in ledger
    stacked.check_nothing_is_left()


def test_a_change_of_the_kpi_begins_an_epoch_without_a_stack(stacked: Foreign) -> None:
    stacked.edit_protocol("quads: 3", "quads: 4")
    refused = stacked.expctl("audit")
    assert refused.status == 1
    assert printed_code(refused.err) == "epoch-just-begun"
    assert "KPI n=8000 (0.5), n=2000 (0.5); fine, 3 quads of 2" in refused.err
    said = stacked.concluded("status").out
    assert "\nepoch\n  here       the next run begins 2: KPI n=8000 (0.5), n=2000 (0.5); fine, 3 quads" in said
    stacked.edit_protocol("wait_s: 1", "wait_s: 2")
    stacked.edit_protocol("quads: 4", "quads: 3")
    assert "\nepoch\n  here       1, since P1 " in stacked.concluded("status").out
