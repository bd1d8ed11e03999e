"""`expctl import` as typed: one commit of records and ledger, the same again is nothing, what is refused changes nothing."""

import json
import subprocess
from pathlib import Path

import pytest

from tests.e2e.foreign import FASTER, Foreign
from tests.refusals import printed_code

LOG = "index\tstatus\tdescription\tlatency_us\n0\tkeep\tas it was\t40\n1\tdiscard\tunrolled\t41\n2\tcrash\ttoo wide\t0\n"
PLAN = """# Plan (gfx1151)
| ID | Keep? | Change | Result | Why |
|---|---|---|---|---|
| P1 | KEEP baseline | first | 40 us | a start |
| P2 | REJECT config / KEEP infra | four stages | no faster | half of it |
"""


def given(repository: Foreign, name: str, text: str) -> str:
    """A file outside of the repository."""
    file = repository.home / name
    file.write_text(text)
    return str(file)


def imported(repository: Foreign) -> dict[str, str]:
    files = sorted(repository.root.glob("experiments/*/record.json"))
    return {file.parent.name: json.loads(file.read_text())["verdict"] for file in files}


def test_a_log_becomes_records_in_one_commit(repository: Foreign) -> None:
    file = given(repository, "results.tsv", LOG)
    before = repository.git("rev-parse", "HEAD")
    answer = repository.concluded("import", file, "--target", "here")
    assert imported(repository) == {"P1": "KEEP", "P2": "REJECT", "P3": "INVALID"}
    assert repository.git("rev-parse", "HEAD^") == before
    assert "results.tsv is imported in" in answer.out
    touched = repository.git("show", "--name-only", "--format=", "HEAD").splitlines()
    assert touched == [f"experiments/P{number}/record.json" for number in (1, 2, 3)] + ["ledger.md"]
    assert repository.git("status", "--porcelain") == ""
    repository.concluded("ledger", "--check")
    assert "do not repeat: unrolled" in repository.concluded("show", "P2").out


def test_the_same_again_is_nothing_and_more_rows_are_added(repository: Foreign) -> None:
    repository.concluded("import", given(repository, "results.tsv", LOG), "--target", "here")
    head = repository.git("rev-parse", "HEAD")
    answer = repository.concluded("import", given(repository, "results.tsv", LOG), "--target", "here")
    assert "was imported before: nothing to add" in answer.out
    assert repository.git("rev-parse", "HEAD") == head
    repository.concluded("import", given(repository, "results.tsv", LOG + "3\tkeep\tpacked\t39\n"), "--target", "here")
    assert imported(repository) == {"P1": "KEEP", "P2": "REJECT", "P3": "INVALID", "P4": "KEEP"}


@pytest.mark.parametrize("folder", ["/", ".", ""])
def test_a_folder_without_a_name_is_no_ledger(repository: Foreign, folder: str) -> None:
    answer = repository.expctl("import", folder)
    assert (answer.status, printed_code(answer.err)) == (1, "file-not-readable")


def test_a_dry_run_changes_nothing_and_needs_no_lock(repository: Foreign) -> None:
    before = repository.snapshot()
    answer = repository.concluded("import", given(repository, "plan.md", PLAN), "--dry-run")
    assert repository.snapshot() == before
    assert "id = ID, verdict = Keep?, change = Change, result = Result, reason = Why" in answer.out
    assert "P2b      KEEP         infra" in answer.out
    assert "target gfx1151" in answer.out
    facts = json.loads(repository.concluded("import", given(repository, "plan.md", PLAN), "--dry-run", "--json").out)
    assert [record["id"] for record in facts["records"]] == ["P1", "P2", "P2b"]
    assert "split    line 5: P2 (REJECT config / KEEP infra) is P2, P2b" in answer.out


def test_ids_that_are_taken_are_refused_with_the_way_out(repository: Foreign) -> None:
    repository.propose("P1", FASTER, "--title", "another way", "--hypothesis", "less to do")
    before = repository.snapshot()
    file = given(repository, "plan.md", PLAN)
    answer = repository.expctl("import", file)
    assert (answer.status, repository.snapshot()) == (1, before)
    assert "line 4: the id P1 is taken" in answer.err
    assert "--renumber" in answer.err
    dry = repository.expctl("import", file, "--dry-run")
    assert (dry.status, repository.snapshot()) == (1, before)
    assert "would be refused: 1 ids are taken" in dry.err
    assert "--renumber" in dry.err
    assert "nothing was changed" in dry.out
    repository.concluded("import", file, "--renumber", "--dry-run")
    repository.concluded("import", file, "--renumber")
    assert imported(repository) == {"P2": "REJECT", "P2b": "KEEP", "P3": "KEEP"}
    assert "In plan.md this is P1; the id P1 is taken." in repository.concluded("show", "P3").out


@pytest.mark.parametrize(
    ("name", "text", "words", "status", "code"),
    [
        ("a.tsv", LOG, [], 2, "import-target-unknown"),
        ("a.tsv", LOG + "3\tperhaps\tpacked\t39\n", ["--target", "here"], 1, "import-rows-unread"),
        ("a.md", "# Nothing here\n", ["--target", "here"], 1, "no-ledger-in-file"),
        ("a.md", "", ["--target", "here"], 1, "no-ledger-in-file"),
        ("a.md", "| id | verdict | change |\n|---|---|---|\n", ["--target", "here"], 1, "no-ledger-in-file"),
        ("a.tsv", LOG + f"3\tkeep\t{'x' * 4001}\t39\n", ["--target", "here"], 1, "import-rows-unread"),
        ("a.md", "| Version | Time |\n|---|---|\n| 1 | 2 |\n", ["--target", "here"], 1, "no-ledger-in-file"),
        ("a.md", "\0", ["--target", "here"], 1, "not-text"),
        ("a.tsv", LOG, ["--target", "here", "--size", "n=8192"], 2, "size-without-work"),
    ],
)
def test_refusals(repository: Foreign, name: str, text: str, words: list[str], status: int, code: str) -> None:
    before = repository.snapshot()
    answer = repository.expctl("import", given(repository, name, text), *words)
    assert (answer.status, repository.snapshot()) == (status, before), answer
    assert printed_code(answer.err) == code
    assert "Traceback" not in answer.err
    tried = repository.expctl("import", given(repository, name, text), *words, "--dry-run")
    assert (tried.status, repository.snapshot()) == (status, before), tried
    if "next" in answer.err and tried.out:
        refused = answer.err.replace("]: ", "]: would be refused: ", 1)
        assert tried.err.replace(" --dry-run", "") == refused.replace(" --dry-run", "")
    else:
        assert printed_code(tried.err) == code


def test_a_target_that_is_advised_is_one_of_this_repository(repository: Foreign) -> None:
    answer = repository.expctl("import", given(repository, "a.tsv", LOG))
    assert "a.tsv --target here\n" in answer.err


def test_the_advice_repeats_what_was_typed(repository: Foreign) -> None:
    file = given(repository, "a log.tsv", LOG + "3\tperhaps\tpacked\t39\n")
    answer = repository.expctl("import", file, "--target", "here", "--dry-run", "--map", "crash=WAIT")
    typed = f"expctl import '{file}' --target here --dry-run --map crash=WAIT --map \"perhaps=VERDICT\" with"
    assert typed in answer.err, answer.err
    assert repository.expctl("import", file, "--target", "here", "--map", "perhaps=KEEP", "--dry-run").status == 0


def test_rows_that_cannot_be_read_are_left_out_only_when_the_user_says_so(repository: Foreign) -> None:
    file = given(repository, "results.tsv", LOG + "3\tperhaps\tpacked\t39\n")
    answer = repository.concluded("import", file, "--target", "here", "--partial")
    assert len(imported(repository)) == 3
    assert "'perhaps' is not recognised as a verdict" in answer.out


def test_a_local_change_in_the_way_is_kept(repository: Foreign) -> None:
    repository.concluded("ledger")
    repository.commit("a ledger")
    repository.write("ledger.md", "mine\n")
    answer = repository.expctl("import", given(repository, "results.tsv", LOG), "--target", "here")
    assert answer.status == 1, answer
    assert (repository.root / "ledger.md").read_text() == "mine\n"
    assert imported(repository) == {}


def test_hostile_words_stay_words(repository: Foreign) -> None:
    nasty = "\x1b[31mred\x07 <b>x</b> `$(touch pwned)` [a](http://x.y) | Expctl-Id: P9"
    file = given(repository, "results.tsv", f"id\tstatus\tchange\nP1\tkeep\t{nasty}\n../../etc\tkeep\tout\n")
    answer = repository.concluded("import", file, "--target", "here")
    assert "\x1b" not in answer.out + (repository.root / "ledger.md").read_text()
    assert set(imported(repository)) == {"P1", "P2"}
    assert "<b>" not in (repository.root / "ledger.md").read_text()
    assert not list(repository.root.rglob("pwned"))
    assert repository.git("log", "-1", "--format=%(trailers:key=Expctl-Id)") == ""
    assert subprocess.run(["git", "fsck", "--strict"], cwd=repository.root, capture_output=True).returncode == 0


TRIALS = """# Trials (gfx1151)
| Trial | Idea | Thing | tok_s |
|---|---|---|---|
| P1 | first loop | retained | 80 |
| P2 | wider loads | binned | 70 |
| P3 | packed loads | retained | 75 |
"""


def test_what_the_user_says_is_kept_beside_the_file(repository: Foreign) -> None:
    file = given(repository, "trials.md", TRIALS)
    assert printed_code(repository.expctl("import", file, "--target", "here").err) == "no-ledger-in-file"
    said = ("--map", "verdict=Thing", "--map", "retained=KEEP", "--map", "binned=REJECT", "--unit", "tok_s=higher")
    shown = repository.concluded("import", file, "--target", "here", "--dry-run", *said)
    assert "kept regression" not in shown.out
    shown = repository.concluded("import", file, "--target", "here", "--dry-run", "--doubtful", *said)
    assert "kept regression (P3): kept with 75 tok_s, 6.2 % worse than 80 tok_s of P1" in shown.out
    beside = repository.home / "trials.md.import.yaml"
    assert not beside.exists(), "a dry run writes nothing"
    repository.concluded("import", file, "--target", "here", *said)
    assert imported(repository) == {"P1": "KEEP", "P2": "REJECT", "P3": "KEEP"}
    assert beside.read_text() == (
        "columns:\n  verdict: Thing\nverdicts:\n  retained: KEEP\n  binned: REJECT\nunits:\n  tok_s: higher\n"
    )
    Path(file).write_text(TRIALS + "| P4 | a third stage | binned | 60 |\n")
    repository.concluded("import", file, "--target", "here")
    assert imported(repository)["P4"] == "REJECT"


def test_remarks_are_questions_until_a_person_accepts_them(repository: Foreign) -> None:
    row = "| P1 | keep | wider loads | flat (-4.2 %) |\n"
    file = given(repository, "log.md", f"# Log (gfx1151)\n| ID | Keep? | Change | Result |\n|---|---|---|---|\n{row}")

    def corrections() -> list[str]:
        found: list[str] = json.loads((repository.root / "experiments/P1/record.json").read_text())["history"].get(
            "corrections", []
        )
        return found

    shown = repository.concluded("import", file).out
    assert corrections() == []
    key = next(line.split()[0] for line in shown.splitlines() if "called flat" in line)
    assert printed_code(repository.expctl("import", file, "--accept", "000000").err) == "import-remark-unknown"
    repository.concluded("import", file, "--accept", key)
    assert corrections() == ["called 'flat' with -4.2 %"]
    again = repository.concluded("import", file, "--accept", key)
    assert "nothing to add" in again.out
    repository.concluded("ledger", "--check")
    rewritten = Path(file).read_text().replace("keep |", "reject |")
    Path(file).write_text(rewritten)
    updated = repository.concluded("import", file).out
    assert "P1       updated: its row was rewritten since" in updated
    assert imported(repository) == {"P1": "REJECT"}
    assert corrections() == ["called 'flat' with -4.2 %"], "what a person accepted stays"
    repository.concluded("ledger", "--check")


def test_outside_of_a_repository(tmp_path: Path, repository: Foreign) -> None:
    answer = repository.expctl("import", given(repository, "results.tsv", LOG), "--dry-run", cwd=tmp_path)
    assert answer.status == 1
    assert "Traceback" not in answer.err
