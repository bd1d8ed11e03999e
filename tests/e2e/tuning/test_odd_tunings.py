"""`expctl tune` asked for what makes no sense, and tunings that were left unfinished."""

import json
import signal
from pathlib import Path

from tests.e2e.foreign import Foreign, wait_until
from tests.e2e.tuning.conftest import SHAPES, TABLES, WIDE
from tests.refusals import printed_code


def killed_after(repository: Foreign, lines: int, *words: str) -> Path:
    """Kill a tuning when its journal has some lines; return the journal."""
    started, folder = repository.start("tune", *words), repository.root / ".git/expctl/tune"
    wait_until(lambda: sum(file.read_text().count("\n") for file in folder.glob("*.jsonl")) >= lines, "the journal grows")
    started.send_signal(signal.SIGKILL)
    started.wait()
    (file,) = folder.glob("*.jsonl")
    return file


def findings(repository: Foreign) -> list[tuple[str, str, str]]:
    """What the doctor says of tunings: health, text, and what to type."""
    checks = repository.expctl("doctor", "--json").json()["checks"]
    return [(each["health"], each["what"], each.get("mend", "")) for each in checks if each["part"] == "tunings"]


def test_the_doctor_names_an_unfinished_tuning_and_what_to_type(tuned: Foreign) -> None:
    words, base = ("--shapes", "64x128x512", "--edit", "default"), tuned.head()[:10]
    journal = killed_after(tuned, 3, *words)
    drop = f"rm .git/expctl/tune/{journal.name}"
    ((health, what, _),) = findings(tuned)
    assert (health, what) == (
        "note",
        f"a tuning is unfinished; {drop} gives it up, or it goes on with expctl tune {' '.join(words)}",
    )
    assert "starts anew; 1 other tunings are unfinished" in tuned.concluded("tune", "--shapes", "16x512x128").out
    tuned.write("src/total.py", "def total(values):\n    return sum(value * value for value in values)\n")
    tuned.commit("another kernel")
    ((health, what, mend),) = findings(tuned)
    assert (health, mend) == ("wrong", drop)
    assert what.startswith(
        f"a tuning that began at {base} is unfinished, and tables, kernel, harness or protocol are others now"
    )
    journal.unlink()
    assert findings(tuned) == [("ok", "nothing is left of an earlier run", "")]


def test_a_damaged_journal_of_a_tuning_is_named_and_stops_no_other_once_it_is_gone(tuned: Foreign) -> None:
    journal = killed_after(tuned, 3, "--shapes", "64x128x512")
    journal.write_text(journal.read_text().replace("64x128x512", "64x128x513", 1))
    assert printed_code(tuned.expctl("tune", "--shapes", "16x512x128").err) == "journal-damaged"
    ((health, _, mend),) = findings(tuned)
    assert (health, mend) == ("wrong", f"rm .git/expctl/tune/{journal.name}")
    journal.unlink()
    tuned.concluded("tune", "--shapes", "16x512x128")


def test_a_rule_that_tunes_nothing_is_refused(tuned: Foreign) -> None:
    good = (tuned.root / "protocol.yaml").read_text()
    for old, new, code in (
        ('["2,2,2,2,4,4", "1,2,4,2,2,2"]', "[]", "file-contradicts-itself"),
        ("quads: 2", "quads: 0", "file-contradicts-itself"),
        ("quads: 2", "iterations: 0", "file-contradicts-itself"),
        ("quads: 2", "trials: 0", "file-contradicts-itself"),
        (f"[{', '.join(SHAPES)}]", "[]", "tune-not-readable"),
        ("1,2,4,2,2,2", "1,2,4", "tune-not-readable"),
        ("1,2,4,2,2,2", "1, 2, 4, 2, 2, 2", "tune-not-readable"),
    ):
        assert old in good
        tuned.write("protocol.yaml", good.replace(old, new))
        tuned.commit("another rule")
        assert printed_code(tuned.expctl("tune").err) == code, new
    assert not (tuned.root / ".git/expctl/tune").exists()


def test_a_benchmark_that_does_not_follow_the_tables_is_named(tuned: Foreign) -> None:
    """The stand-in times the build's choice for `auto`, whatever the tables say."""
    for _ in range(2):
        tuned.concluded("tune", "--shapes", "64x128x512")
    (reason,) = tuned.record("P2")["reasons"]
    assert reason.startswith("in 1 of 1 buckets the config of the table is faster than what `auto` is: the benchmark doesn't")


SHAPES_THAT_ARE_NONE = ("64x128", "0x1x2", "axbxc", ",", "064x128x512", "6_4x128x512", "64x128x512, 1x1x1", f"{'9' * 5000}x1x1")


def test_what_is_asked_has_to_make_sense(tuned: Foreign) -> None:
    for shapes in SHAPES_THAT_ARE_NONE:
        refused = tuned.expctl("tune", "--shapes", shapes)
        assert printed_code(refused.err) == "tune-not-readable"
        assert "found     the shape '" in refused.err
    assert printed_code(tuned.expctl("tune", "--edit", "all").err) == "not-an-edit"
    assert printed_code(tuned.expctl("tune", "--golden", "nowhere.csv").err) == "file-not-readable"
    assert not (tuned.root / ".git/expctl/tune").exists()
    tuned.edit_protocol(f"tables: {TABLES}", "tables: elsewhere/cpu/hip/gemm/scaled_mm_a16w8_e5m2")
    assert printed_code(tuned.expctl("tune").err) == "tune-not-described"


def test_a_patch_that_brings_tables_of_its_own_is_refused_because_neither_side_would_be_timed_with_them(tuned: Foreign) -> None:
    tuned.write(f"{TABLES}/DEFAULT.json", json.dumps({"any": WIDE}))
    tuned.commit("a table by hand")
    tuned.write(f"{TABLES}/DEFAULT.json", json.dumps({"any": "build"}))
    refused = tuned.expctl("new", "P1", "--from-diff", "--title", "No table", "--hypothesis", "The build chooses better.")
    assert refused.status == 1
    assert "patch-not-allowed" in refused.err
    assert f"{TABLES}/DEFAULT.json is a table of configs" in refused.err
    assert "expctl tune" in refused.err
