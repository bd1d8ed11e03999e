"""`expctl audit`, whole: a stack of real KEEPs measured again, one change left out at a time, and a lost gain found."""

from foreign import Foreign

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


def stacked(repository: Foreign) -> None:
    """Two experiments that were kept: about +25 % and +35 %."""
    repository.write("src/total.py", kernel(20, 20, 4))
    repository.concluded("ledger")
    repository.commit("a kernel with three costs")
    repository.propose("P1", kernel(10, 20, 4))
    assert "KEEP" in repository.concluded("run", "P1").out
    repository.propose("P2", kernel(10, 10, 4))
    assert "KEEP" in repository.concluded("run", "P2").out


def test_a_stack_that_keeps_its_promise_and_each_change_of_it(repository: Foreign) -> None:
    stacked(repository)
    before = repository.snapshot()
    said = repository.concluded("audit", "--leave-one-out").out
    assert "audit of here, epoch 1: " in said
    assert "\n  stack      P1, P2\n" in said
    assert "\n  so         the stack gives what the records promise, within their intervals\n" in said, said
    assert said.count("still a gain") == 2, said
    assert said.endswith("  nothing was committed\n")
    assert repository.snapshot() == before
    repository.check_nothing_is_left()


def test_a_lost_gain_is_found_where_it_was_lost_and_kept_on_request(repository: Foreign) -> None:
    stacked(repository)
    repository.write("src/total.py", kernel(10, 10, 20))
    repository.commit("by hand")
    culprit = repository.head()
    repository.propose("P3", kernel(6, 10, 20))
    assert "KEEP" in repository.concluded("run", "P3").out
    found = repository.concluded("audit", "--bisect", "--record", "--json").json()
    assert found["layers"] == ["P1", "P2", f"{culprit[:7]} by hand", "P3"]
    assert found["falls_short"]
    assert found["bisection"]["culprit"] == f"{culprit[:7]} by hand"
    assert found["bisection"]["commit"] == culprit
    assert found["bisection"]["own"]["verdict"] == "REJECT"
    assert found["finding"] == "F1"
    assert repository.changed_by(repository.head()) == ["experiments/findings.yaml", "ledger.md"]
    ledger = (repository.root / "ledger.md").read_text()
    assert "**F1** Audit of here, epoch 1: " in ledger
    assert f"the gain was lost at {culprit[:7]} by hand." in ledger
    repository.check_nothing_is_left()


def test_a_change_of_the_kpi_begins_an_epoch_without_a_stack(repository: Foreign) -> None:
    repository.concluded("ledger")
    repository.commit("ledger")
    repository.propose("P1", "def total(values):\n    return sum([value * value for value in values])\n")
    repository.concluded("run", "P1")
    repository.edit_protocol("quads: 3", "quads: 4")
    refused = repository.expctl("audit")
    assert refused.status == 1
    assert "the epoch of here has just begun: there is no stack to audit" in refused.err
    assert "KPI n=8000 (0.5), n=2000 (0.5); fine, 3 quads of 2" in refused.err
    said = repository.concluded("status").out
    assert "\nepoch\n  here       the next run begins 2: KPI n=8000 (0.5), n=2000 (0.5); fine, 3 quads" in said
    repository.edit_protocol("wait_s: 1", "wait_s: 2")
    repository.edit_protocol("quads: 4", "quads: 3")
    assert "\nepoch\n  here       1, since P1 " in repository.concluded("status").out
