"""What begins an epoch and what opens a rule, by a table of edits: tests/cases/epoch_cases.yaml."""

import json
from pathlib import Path

import pytest
import yaml

from tests.e2e.foreign import SLOWER, WRONG, Foreign
from tests.refusals import printed_code

CASES = [
    case
    for name in ("epoch_cases.yaml", "epoch_cases_seen.yaml", "epoch_cases_unseen.yaml")
    for case in yaml.safe_load((Path(__file__).parents[1] / "cases" / name).read_text())
]
# Of edits of the same file with the same outcome, the first is tried; with --long, all are.
FIRST = {
    tuple(case.get(key) for key in ("file", "epoch", "rule", "small_rule", "failed_rule")): case for case in reversed(CASES)
}
EDITS = [
    pytest.param(case, id=case["name"], marks=() if any(case is first for first in FIRST.values()) else pytest.mark.long)
    for case in CASES
]
CLEAR, SMALL, FAILED = "P1", "P2", "P3"


@pytest.fixture(scope="module")
def rejected(tmp_path_factory: pytest.TempPathFactory) -> Foreign:
    """A repository in which P1 was rejected as a clear loss and P3 because its test failed. P2 is P1 with a loss near zero."""
    repository = Foreign.of("foreign_repository", tmp_path_factory.mktemp("rejected"))
    for name, kernel in ((CLEAR, SLOWER), (FAILED, WRONG)):
        repository.queue(name, kernel)
        assert "REJECT" in repository.concluded("run", name).out
    record = repository.record(CLEAR)
    estimates = [{**each, "effect_percent": -0.1, "low_percent": -0.3, "high_percent": 0.1} for each in record["estimates"]]
    repository.write(f"experiments/{SMALL}/record.json", json.dumps({**record, "id": SMALL, "estimates": estimates}, indent=1))
    repository.commit("an effect near zero")
    assert begun(repository) == "same"
    assert rules(repository) == {CLEAR: "holds", SMALL: "holds", FAILED: "holds"}
    return repository


@pytest.mark.parametrize("case", EDITS)
def test_an_edit_begins_an_epoch_and_opens_rules_as_the_table_says(
    case: dict[str, str], rejected: Foreign, tmp_path: Path
) -> None:
    repository = rejected.copy(tmp_path / "edited")
    file = repository.root / case["file"]
    text = file.read_bytes() if case["find"] else b""
    assert case["find"].encode() in text, "this edit changes nothing"
    file.write_bytes(text.replace(case["find"].encode(), case["replace"].encode()))
    repository.commit(case["name"])
    if case["epoch"] == "refused":
        assert printed_code(repository.expctl("status").err) == "file-has-problems"
        return
    opens = "open" if "open" in (case["rule"], "open" if case["epoch"] == "new" else "") else "holds"
    expected = {CLEAR: case["rule"], SMALL: case.get("small_rule", opens), FAILED: case.get("failed_rule", case["rule"])}
    assert begun(repository) == case["epoch"]
    assert rules(repository) == expected
    checked = repository.expctl("rules", "check", str(repository.root / f"experiments/{FAILED}/change.patch"))
    assert checked.status == (1 if expected[FAILED] == "holds" else 0), checked


def begun(repository: Foreign) -> str:
    """`same` while the next run joins the epoch of P1, `new` when it would begin another one."""
    (now,) = json.loads(repository.concluded("status", "--json").out)["epochs"]
    return "same" if now["since"] else "new"


def rules(repository: Foreign) -> dict[str, str]:
    """Does the rule of each experiment hold, or is it open again?"""
    listed = json.loads(repository.concluded("rules", "--json").out)["rules"]
    return {each["id"]: "open" if each["state"] == "reopened" else "holds" for each in listed}
