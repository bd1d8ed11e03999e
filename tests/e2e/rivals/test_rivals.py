"""`expctl rivals`, whole: measured, committed with the ledger, printed again, and what it says where it can't."""

import json
from pathlib import Path

from tests.e2e.foreign import Foreign
from tests.refusals import printed_code

SCRIPT = "tools/rivals.py"
STEP = """    rivals:
      argv: ["{{python}}", -S, tools/rivals.py, "{{artifact}}", "{{out}}"{words}]
      timeout_s: 60
"""


def with_rivals(repository: Foreign, words: str = "") -> None:
    """Commit a script and the step that starts it."""
    repository.write(SCRIPT, Path(__file__).with_name("script.py").read_text())
    repository.edit_protocol("    benchmark:\n", f"{STEP.format(words=words)}    benchmark:\n")


def test_rivals_are_timed_committed_and_stand_in_the_ledger(repository: Foreign) -> None:
    with_rivals(repository)
    before = repository.head()
    said = repository.concluded("rivals").out
    for words in (
        "n=2000",
        "a generator",
        "wall: the values alone",
        "numpy: not timed: no numpy here",
        "kept in    experiments/rivals/here-",
    ):
        assert words in said, said
    (path,) = repository.git("ls-files", "experiments/rivals").splitlines()
    assert repository.git("show", "--name-only", "--format=%s%n%P", "HEAD").splitlines() == [
        "Rivals on here: n=2000",
        before,
        "",
        path,
        "ledger.md",
    ]
    record = json.loads((repository.root / path).read_text())
    assert (record["head"], record["target"], record["number_kind"]) == (before, "here", "wall_time")
    assert len(record["sizes"][0]["entries"][0]["ns"]) == 9
    assert record["environment"]["torch"] == "none"
    ledger = (repository.root / "ledger.md").read_text()
    assert "| target | now | beside rivals | gained by expctl |" in ledger
    assert "| a generator | " in ledger
    assert "x a generator; " in ledger
    repository.concluded("ledger", "--check")
    repository.check_nothing_is_left()


def test_the_newest_of_a_target_are_printed_again(repository: Foreign) -> None:
    refused = repository.expctl("rivals", "--last")
    assert printed_code(refused.err) == "rivals-not-measured"
    with_rivals(repository)
    first = repository.concluded("rivals", "--json").json()
    head = repository.head()
    again = repository.concluded("rivals", "--last", "--json").json()
    assert (again["rivals"], again["path"], again["commit"]) == (first["rivals"], first["path"], "")
    assert first["commit"] == repository.head() == head
    assert printed_code(repository.expctl("rivals", "--last", "--target", "there").err) == "rivals-not-measured"


def test_without_a_step_it_says_what_to_write(repository: Foreign) -> None:
    refused = repository.expctl("rivals")
    assert printed_code(refused.err) == "rivals-not-described"
    assert "targets.here.rivals" in refused.err


def test_a_script_that_can_not_measure_is_quoted_and_nothing_is_left(repository: Foreign) -> None:
    with_rivals(repository, ", absent")
    repository.concluded("ledger")
    repository.commit("ledger")
    before = repository.snapshot()
    refused = repository.expctl("rivals")
    assert printed_code(refused.err) == "rivals-failed"
    assert "numpy is not installed here: pip install numpy" in refused.err
    assert repository.snapshot() == before
    repository.check_nothing_is_left()
