"""expctl in somebody else's repository: every verdict, and exactly the commits that belong to it."""

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.foreign import DOES_NOT_PARSE, FASTER, SLOWER, WRONG, Foreign
from tests.refusals import printed_code


@dataclass(frozen=True, slots=True)
class Kept:
    """A repository after a KEEP, its head before the run, and what the run said."""

    repository: Foreign
    queued: str
    said: str


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    repository = Foreign.of("foreign_repository", tmp_path_factory.mktemp("kept"))
    repository.propose("P1", FASTER, "--title", "a comprehension", "--hypothesis", "fewer bytecodes for each value")
    assert repository.git("status", "--porcelain") == ""
    queued = repository.head()
    return Kept(repository, queued, repository.concluded("run", "P1").out)


def test_keep_without_git_by_hand(kept: Kept) -> None:
    repository, queued, said = kept.repository, kept.queued, kept.said
    record = repository.record("P1")
    assert record["verdict"] == "KEEP"
    assert len(repository.git("rev-list", f"{queued}..HEAD").splitlines()) == 2
    assert repository.git("rev-parse", "HEAD~1^{tree}") == record["tree"]
    assert repository.git("rev-parse", "HEAD~1") == record["candidate"] == repository.git("rev-parse", "refs/expctl/P1")
    assert repository.git("rev-parse", "HEAD~2") == record["base"] == queued
    assert repository.changed_by("HEAD~1") == ["src/total.py"]
    assert all(path == "ledger.md" or path.startswith("experiments/P1/") for path in repository.changed_by("HEAD"))
    assert (repository.root / "src/total.py").read_text() == FASTER
    assert repository.git("status", "--porcelain") == ""
    for label in ("gate", "build", "test", "benchmark", "KEEP", "main"):
        assert re.search(rf"^  {label} ", said, re.MULTILINE), f"no line {label!r} in:\n{said}"
    assert "n=8000" in said
    assert "n=2000" in said
    repository.check_nothing_is_left()

    before = repository.snapshot()
    answer = repository.concluded("run", "P1")
    assert "KEEP" in answer.out
    assert "--again" in answer.out
    assert repository.snapshot() == before


def test_again_is_evidence_and_moves_nothing(kept: Kept, tmp_path: Path) -> None:
    repository = kept.repository.copy(tmp_path / "copy")
    head = repository.head()
    said = repository.concluded("run", "P1", "--again").out
    (again,) = repository.record("P1")["replications"]
    measured = f"  again 1    {again['verdict']} on here, {again['date']}: {again['reasons'][0]}"
    assert f"{measured}\n  stands     the verdict of " in said
    assert len(repository.git("rev-list", f"{head}..HEAD").splitlines()) == 1
    assert all(path == "ledger.md" or path.startswith("experiments/P1/") for path in repository.changed_by("HEAD"))
    repository.check_nothing_is_left()


def test_slower_change_is_rejected(repository: Foreign) -> None:
    baseline = (repository.root / "src/total.py").read_text()
    repository.propose("P1", SLOWER, "--expect", "REJECT")
    queued, scope = repository.head(), repository.git("rev-parse", "HEAD:src")

    said = repository.concluded("run", "P1").out

    record = repository.record("P1")
    assert record["verdict"] == "REJECT"
    assert re.search(r"n=\d+ regresses|objective -.*: (the candidate is slower|a gain of 0\.5 % is ruled out)", said)
    assert len(repository.git("rev-list", f"{queued}..HEAD").splitlines()) == 1
    assert repository.git("rev-parse", "HEAD:src") == scope
    assert (repository.root / "src/total.py").read_text() == baseline
    assert repository.git("status", "--porcelain") == ""
    samples = [json.loads(line) for line in repository.git("show", "HEAD:experiments/P1/samples.jsonl").splitlines()]
    measured = record["procedure"]["search_rounds"]
    assert len({(s["round"], s["launch"], s["size"]) for s in samples}) == len(samples) == measured * 2 * 2
    assert {s["session"] for s in samples} == {"search"}
    assert repository.concluded("replay", "P1").out.startswith("P1       same     REJECT: byte for byte, rule 2, ")
    repository.check_nothing_is_left()


def test_wrong_change_is_rejected_without_a_sample(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    said = repository.concluded("run", "P1").out
    record = repository.record("P1")
    assert (record["verdict"], record["test"]["ok"], record.get("estimates")) == ("REJECT", False, None)
    assert "total of 7 values is 92, expected 91" in said
    assert repository.git("ls-files", "experiments/P1/samples.jsonl") == ""
    repository.check_nothing_is_left()


def test_change_that_python_cannot_load_is_rejected_without_a_sample(repository: Foreign) -> None:
    repository.queue("P1", DOES_NOT_PARSE)
    said = repository.concluded("run", "P1").out
    record = repository.record("P1")
    assert (record["verdict"], record.get("estimates")) == ("REJECT", None)
    assert "SyntaxError" in said
    repository.check_nothing_is_left()


def test_change_that_does_not_compile_is_rejected_without_a_test(c_repository: Foreign) -> None:
    kernel = (c_repository.root / "src/total.c").read_text()
    c_repository.queue("P1", kernel.replace("return result;", "return reslut;"), file="src/total.c")
    said = c_repository.concluded("run", "P1").out
    record = c_repository.record("P1")
    assert (record["verdict"], record.get("test"), record.get("estimates")) == ("REJECT", None, None)
    assert "use of undeclared identifier 'reslut'" in said
    assert str(c_repository.root) not in c_repository.git("show", "HEAD:ledger.md")
    c_repository.check_nothing_is_left()


def test_comment_is_a_no_op(c_repository: Foreign) -> None:
    kernel = (c_repository.root / "src/total.c").read_text()
    c_repository.queue("P1", f"/* Nothing\n   but\n   words. */\n{kernel}", file="src/total.c")
    said = c_repository.concluded("run", "P1").out
    record = c_repository.record("P1")
    assert (record["verdict"], record.get("test"), record.get("estimates")) == ("NO-OP", None, None)
    assert "nothing was timed" in said
    assert c_repository.git("log", "--format=%s", "-1", "--", "src").startswith("baseline")
    c_repository.check_nothing_is_left()


def test_a_simplification_with_the_same_code_lands_untimed_and_owes_what_was_not_built(c_repository: Foreign) -> None:
    away = "    build: {toolchain: command, argv: [no-such-compiler]}\n    requires: {executables: [no-such-compiler]}\n"
    c_repository.edit_protocol("targets:\n", f"targets:\n  away:\n{away}")
    kernel = (c_repository.root / "src/total.c").read_text()
    simpler = f"/* Words. */\n{kernel}"
    c_repository.propose("P1", simpler, "--kind", "simplify", "--title", "fewer lines", file="src/total.c")
    queued = c_repository.head()
    said = c_repository.concluded("run", "P1").out
    record = c_repository.record("P1")
    assert (record["verdict"], record.get("estimates"), record["test"]["ok"]) == ("KEEP", None, True)
    assert record["reasons"] == [
        "same machine code; nothing to time",
        "compared on here; not built, an open debt: away",
    ]
    assert re.search("^  KEEP       same machine code; nothing to time$", said, re.MULTILINE), said
    assert "\n  benchmark" not in said
    assert (c_repository.root / "src/total.c").read_text() == simpler
    assert c_repository.git("rev-parse", "HEAD~1") == record["candidate"]
    assert c_repository.git("rev-parse", "HEAD~2") == queued
    assert c_repository.git("ls-files", "experiments/P1/samples.jsonl") == ""
    owed = "not compared on away, which could not be built; expctl run P1 --again compares it where it can be"
    assert f"  note       {owed}\n" in c_repository.concluded("show", "P1").out
    assert f"  P1: {owed}\n" in c_repository.concluded("status").out
    ledger = c_repository.git("show", "HEAD:ledger.md")
    assert "- **Code not compared everywhere:** P1\n" in ledger
    assert "| [P1](experiments/P1) | KEEP | fewer lines | here | - | same machine code; nothing to time" in ledger
    assert c_repository.concluded("replay", "--all").status == 0
    assert "the same machine code" in c_repository.concluded("audit", "--leave-one-out").out
    assert "is not compared on away" in c_repository.concluded("brief").out
    c_repository.check_nothing_is_left()


def test_a_free_simplification_that_fails_its_test_is_rejected(c_repository: Foreign) -> None:
    text = (c_repository.root / "bench/test.py").read_text()
    picky = 'import sys\n\nif b"forbidden" in open(sys.argv[1], "rb").read():\n    raise SystemExit("a word")\n'
    c_repository.write("bench/test.py", f"{picky}{text}")
    c_repository.commit("a test that looks at debug information")
    kernel = (c_repository.root / "src/total.c").read_text()
    c_repository.propose("P1", kernel.replace("result", "forbidden"), "--kind", "infra", file="src/total.c")
    c_repository.concluded("run", "P1")
    record = c_repository.record("P1")
    codes = [side["here"]["code"] for side in record["artifacts"].values()]
    assert (record["verdict"], record["test"]["ok"], len(set(codes))) == ("REJECT", False, 1)
    assert c_repository.git("log", "--format=%s", "-1", "--", "src").startswith("baseline")


def test_the_same_code_that_calls_another_function_is_not_free(c_repository: Foreign) -> None:
    kernel = (c_repository.root / "src/total.c").read_text()
    c_repository.write("src/total.c", kernel + '\nint puts(const char *);\nint say(void) { return puts(""); }\n')
    c_repository.commit("a kernel that calls a library")
    other = (c_repository.root / "src/total.c").read_text().replace("puts", "atoi")
    c_repository.propose("P1", other, "--kind", "simplify", file="src/total.c")
    said = c_repository.concluded("run", "P1").out
    assert c_repository.record("P1")["verdict"] == "NO-OP"
    assert "not free: names that the code is linked by differ on here" in said


def test_a_protocol_may_ask_that_a_simplification_was_built_everywhere(c_repository: Foreign) -> None:
    away = "    build: {toolchain: command, argv: [no-such-compiler]}\n    requires: {executables: [no-such-compiler]}\n"
    c_repository.edit_protocol("keep: {", "keep: {free_simplify: all, ")
    c_repository.edit_protocol("targets:\n", f"targets:\n  away:\n{away}")
    kernel = (c_repository.root / "src/total.c").read_text()
    c_repository.propose("P1", f"/* Words. */\n{kernel}", "--kind", "simplify", file="src/total.c")
    said = c_repository.concluded("run", "P1").out
    assert c_repository.record("P1")["verdict"] == "NO-OP"
    assert "not built: away; keep.free_simplify: all asks for every target" in said
    c_repository.edit_protocol("free_simplify: all", "free_simplify: most")
    refused = c_repository.expctl("run", "P1", "--again")
    assert refused.status == 1
    assert "free_simplify" in refused.err
    assert "built" in refused.err


def test_compiled_kernel_is_kept(c_repository: Foreign) -> None:
    baseline = (c_repository.root / "src/total.c").read_text()
    slow = baseline.replace("i++)\n", "i++) for (volatile int j = 0; j < 300; j++)\n").replace(
        "result += values[i] * values[i];", "result += j ? 0 : values[i] * values[i];"
    )
    c_repository.write("src/total.c", slow)
    c_repository.commit("a slow baseline")
    c_repository.queue("P1", baseline, file="src/total.c")
    c_repository.concluded("run", "P1")
    assert c_repository.record("P1")["verdict"] == "KEEP"
    assert c_repository.git("show", "HEAD:src/total.c") + "\n" == baseline
    assert c_repository.git("status", "--porcelain") == ""


def test_analysis_never_lands_code(repository: Foreign) -> None:
    baseline = (repository.root / "src/total.py").read_text()
    repository.propose("P1", FASTER, "--kind", "analysis")
    queued = repository.head()
    repository.concluded("run", "P1")
    assert repository.record("P1")["verdict"] == "KEEP"
    assert len(repository.git("rev-list", f"{queued}..HEAD").splitlines()) == 1
    assert not any(path.startswith("src/") for path in repository.changed_by("HEAD"))
    assert (repository.root / "src/total.py").read_text() == baseline
    repository.check_nothing_is_left()


@pytest.mark.parametrize("style", ["launch", "fine"])
def test_an_ablation_that_computes_nonsense_is_timed(repository: Foreign, style: str) -> None:
    repository.edit_protocol("      style: fine\n", f"      style: {style}\n" + "      respawn: 3\n" * (style == "fine"))
    repository.propose("P1", "def total(values):\n    return 0 * len(values)\n", "--kind", "analysis")
    said = repository.concluded("run", "P1").out
    record = repository.record("P1")
    assert record["verdict"] == "KEEP"
    assert any(note.startswith("wrong results, as an analysis may have: test: ") for note in record["notes"]), said
    assert {each["size"] for each in record["estimates"]} >= {"objective"}
    assert record["estimates"][0]["low_percent"] > 10
    assert repository.concluded("replay", "P1").out.startswith("P1       same ")
    repository.check_nothing_is_left()


def test_rejected_change_is_refused_a_second_time(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    repository.concluded("run", "P1")
    repository.queue("P2", WRONG)
    before = repository.snapshot()
    answer = repository.expctl("run", "P2")
    assert answer.status == 1
    assert printed_code(answer.err) == "tried-before"
    assert repository.snapshot() == before


def test_all_goes_through_the_queue_and_says_so_when_it_is_empty(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    repository.queue("P2", SLOWER)
    repository.concluded("run", "--all")
    assert [repository.record(each)["verdict"] for each in ("P1", "P2")] == ["REJECT", "REJECT"]
    answer = repository.concluded("run", "--all")
    assert "empty" in answer.out + answer.err, "an empty queue ends without a word"


def cold(repository: Foreign, *words: str) -> Any:
    answer = repository.cold(*words)
    assert answer.status == 0, f"{words}: {answer}"
    return answer.json()


def test_json_of_every_command_parses(repository: Foreign) -> None:
    """In processes that start cold: each verb imports what it needs."""
    repository.write("src/total.py", SLOWER)
    assert cold(repository, "new", "P1", "--from-diff", "--json")["id"] == "P1"
    assert cold(repository, "show", "P1", "--json")["id"] == "P1"
    (outcome,) = cold(repository, "run", "P1", "--json")["steps"]
    assert outcome["record"]["verdict"] == "REJECT"
    assert cold(repository, "show", "P1", "--json")["verdict"] == "REJECT"
    assert cold(repository, "status", "--json")["queue"] == []
    assert cold(repository, "ledger", "--json")
    assert cold(repository, "ledger", "--check", "--json")
    assert cold(repository, "gate", "--json")["quiet"] is True
    for words in (("queue",), ("brief",), ("rules",), ("replay", "--all")):
        assert cold(repository, *words, "--json") is not None
    assert cold(repository, "run", "--all", "--json")["steps"] == [
        {"event": "ended", "why": "the queue is empty", "bring_home": ""}
    ]


def test_one_flipped_character_in_the_ledger_is_found_and_mended(repository: Foreign) -> None:
    repository.propose("P1", FASTER)
    ledger = repository.root / "ledger.md"
    rendered = ledger.read_bytes()
    place = rendered.index(b"P1")
    ledger.write_bytes(rendered[:place] + b"Q" + rendered[place + 1 :])
    answer = repository.expctl("ledger", "--check")
    assert answer.status == 1
    assert re.search(r"^  next +expctl ledger$", answer.err, re.MULTILINE)
    repository.concluded("ledger")
    assert ledger.read_bytes() == rendered
    assert repository.concluded("ledger", "--check")


def test_the_owner_lays_the_ledger_out_otherwise(repository: Foreign) -> None:
    repository.propose("P1", FASTER, "--title", "a | b")
    protocol = (repository.root / "protocol.yaml").read_text()
    lines = len(protocol.splitlines())
    repository.write("protocol.yaml", f"{protocol.rstrip()}\nledger: {{template: docs/ledger.md.j2}}\n")
    repository.git("add", "protocol.yaml")
    repository.git("commit", "-q", "-m", "a template")
    missing = repository.expctl("ledger")
    assert missing.status == 1
    assert "no such file" in missing.err
    assert f"protocol.yaml, line {lines + 1}" in missing.err
    repository.write("docs/ledger.md.j2", "{% for item in ledger.queue %}\n{{ item.gone }}\n{% endfor %}\n")
    repository.git("add", "docs")
    repository.git("commit", "-q", "-m", "the template")
    broken = repository.expctl("ledger")
    assert broken.status == 1
    assert "docs/ledger.md.j2, line 2" in broken.err
    assert "Traceback" not in broken.err
    repository.write("docs/ledger.md.j2", "{% for item in ledger.queue %}\n- {{ item.id }} {{ item.title }}\n{% endfor %}\n")
    repository.git("commit", "-q", "-a", "-m", "mended")
    repository.concluded("ledger")
    assert (repository.root / "ledger.md").read_text() == "- P1 a \\| b\n"
    assert repository.concluded("ledger", "--check")
