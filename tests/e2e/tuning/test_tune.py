"""`expctl tune`, whole: the case of the pull request that the tables come from, kills, two branches, stale tables."""

import json
import signal
import time
from pathlib import Path

from tests.e2e.foreign import Foreign
from tests.e2e.tuning.conftest import RULE, SHAPES, SPECIAL, TABLES, WIDE
from tests.refusals import printed_code


def tables(repository: Foreign, commit: str = "HEAD") -> dict[str, dict[str, object]]:
    names = repository.git("ls-tree", "-r", "--name-only", commit, TABLES).splitlines()
    return {Path(name).name: json.loads(repository.git("show", f"{commit}:{name}")) for name in names}


def test_the_hybrid_of_one_family_is_proposed_and_lands(tuned: Foreign, tmp_path: Path) -> None:
    before = tuned.head()
    said = tuned.concluded("tune").out
    found = tables(tuned)
    assert set(found) == {"DEFAULT.json", SPECIAL}
    assert {name: entry for name, entry in found[SPECIAL].items() if name != "made_with"} == {
        "M_LEQ_16": "build",
        "M_LEQ_32": "build",
        "M_LEQ_64": WIDE,
        "M_LEQ_128": WIDE,
        "M_LEQ_256": WIDE,
        "any": "build",
    }
    assert {entry for name, entry in found["DEFAULT.json"].items() if name != "made_with"} == {"build"}
    assert "0 regressions and 3 improved of 3 changed shapes" in said
    record = tuned.record("P1")
    assert (record["kind"], record["verdict"]) == ("config", "KEEP")
    assert [each["size"] for each in record["estimates"]] == ["objective", "64x128x512", "128x128x512", "256x128x512"]
    verdicts = {(each["file"], each["bucket"]): each["verdict"] for each in record["buckets"]}
    assert len(verdicts) == len(SHAPES)
    assert [bucket for (_, bucket), verdict in verdicts.items() if verdict == "KEEP"] == ["M_LEQ_64", "M_LEQ_128", "M_LEQ_256"]
    assert "7 of 10 shapes keep their config and were not compared" in record["notes"]
    assert record["yardstick"]["kpi"].startswith("16x128x512 (0.1), ")
    assert tuned.concluded("status", "--json").json()["baselines"] == []
    assert ", 2 quads of " in record["yardstick"]["kpi"]
    candidate = tuned.git("rev-parse", "HEAD^")
    assert record["candidate"] == candidate
    assert printed_code(tuned.expctl("run", "P1", "--again").err) == "tuning-not-run-again"
    assert "a tuning, whose sides are configs" in tuned.expctl("tune", "drift", "P1").err
    assert tuned.git("rev-parse", "HEAD^^") == before
    assert all(path.startswith(TABLES) for path in tuned.changed_by(candidate))
    assert not any(path.startswith("src") for path in tuned.changed_by("HEAD"))
    tuned.concluded("replay", "--all")
    tuned.concluded("ledger", "--check")
    assert "1 KEEPs whose trees are the measured ones" in tuned.concluded("verify").out
    tuned.concluded("show", "P1", "--plot")
    tuned.concluded("report", "--html", str(tmp_path / "report.html"))
    page = (tmp_path / "report.html").read_text()
    assert "P1: rounds of both sides, in pairs" in page
    assert "256x128x512" in page
    assert tuned.expctl("doctor").status == 0
    choice = tuned.concluded("inspect", TABLES, "--config-for", "100,128,512").out
    assert SPECIAL in choice
    assert "M_LEQ_128, tuned" in choice
    tuned.check_nothing_is_left()


def test_an_edit_of_the_default_that_hurts_another_family_is_refused_as_such(tuned: Foreign) -> None:
    tuned.concluded("tune", "--edit", "default")
    record = tuned.record("P1")
    default = {each["bucket"]: each for each in record["buckets"] if each["file"] == "DEFAULT.json" and each.get("config")}
    assert set(default) == {"M_LEQ_64", "M_LEQ_128", "M_LEQ_256"}
    for rows, each in zip((64, 128, 256), default.values(), strict=True):
        assert each["verdict"] == "REJECT"
        assert f"{rows}x512x128" in each["reason"]
    assert set(tables(tuned)) == {"DEFAULT.json", SPECIAL}
    assert tables(tuned)[SPECIAL]["M_LEQ_64"] == WIDE
    tuned.concluded("replay", "--all")


def test_killed_three_times_it_ends_with_the_same_tables(tuned: Foreign, tmp_path: Path) -> None:
    other = tuned.copy(tmp_path / "other")
    tuned.concluded("tune")
    journal = other.root / ".git/expctl/tune"
    for lines in (2, 12, 20):
        started = other.start("tune")
        until = time.monotonic() + 60
        while sum(file.read_text().count("\n") for file in journal.glob("*.jsonl")) < lines and started.poll() is None:
            assert time.monotonic() < until, other.said()
            time.sleep(0.02)
        assert started.poll() is None, other.said()
        started.send_signal(signal.SIGKILL)
        started.wait()
    assert "tune       interrupted   its runner is gone; expctl tune" in other.concluded("status").out
    said = other.concluded("tune").out
    assert "goes on after" in said
    assert tables(other) == tables(tuned)
    assert not list(journal.glob("*.jsonl"))
    other.concluded("replay", "--all")
    other.check_nothing_is_left()


def test_a_bucket_that_says_something_else_than_its_samples_is_seen_on_replay(tuned: Foreign) -> None:
    tuned.concluded("tune", "--shapes", "64x128x512")
    path = tuned.root / "experiments/P1/record.json"
    good = path.read_text()
    for old, new in (
        ('"verdict": "KEEP",\n   "config"', '"verdict": "REJECT",\n   "config"'),
        ('"contests_sha256": "', '"contests_sha256": "0'),
    ):
        assert old in good
        path.write_text(good.replace(old, new))
        tuned.commit("another record")
        replayed = tuned.expctl("replay", "P1")
        assert replayed.status == 1
        assert "contests.jsonl" in replayed.out + replayed.err


def test_nothing_better_is_a_reject_and_changes_no_table(tuned: Foreign) -> None:
    said = tuned.concluded("tune", "--shapes", "16x512x128,32x512x128", "--json").json()
    assert (said["schema"], said["record"]["id"]) == ("expctl.tune/1", "P1")
    assert tables(tuned) == {}
    record = tuned.record("P1")
    assert record["verdict"] == "REJECT"
    assert "none of 2 buckets" in record["reasons"][0]
    tuned.concluded("replay", "--all")
    assert tuned.expctl("doctor").status == 0


def test_contests_that_propose_no_table_are_decided_again_on_replay(tuned: Foreign) -> None:
    path, begin = tuned.root / "bench/benchmark.py", '    if request["do"] == "begin":\n'
    text = path.read_text().replace("NOW * 65 // 100 if m >= 64", "NOW * (65 if len(timed) > 1 else 120) // 100 if m >= 64")
    path.write_text(text.replace(begin, f'{begin}        timed = request["sizes"]\n'))
    tuned.commit("a harness in which a config is fast beside others alone")
    tuned.concluded("tune", "--shapes", "64x128x512")
    (bucket,) = tuned.record("P1")["buckets"]
    assert (bucket["verdict"], bucket["config"]) == ("REJECT", "2,2,2,2,4,4")
    assert "contests by contests.jsonl: 1" in tuned.concluded("replay", "P1").out
    path = tuned.root / "experiments/P1/record.json"
    path.write_text(path.read_text().replace(f'"effect_percent": {bucket["effect_percent"]}', '"effect_percent": -1.5'))
    tuned.commit("another record")
    assert "contests.jsonl says something else" in tuned.expctl("replay", "P1").out


def test_a_shape_that_regresses_beside_the_others_refuses_the_tables(tuned: Foreign) -> None:
    """Each of 13 buckets has a KEEP; with all of them in one process, one shape is slower with its new config."""
    late = 'def late(shape):\n    return 2 * NOW if shape == "76x128x512" and len(timed) > 12 else NOW * 65 // 100\n\n\n'
    path, begin = tuned.root / "bench/benchmark.py", '    if request["do"] == "begin":\n'
    text = path.read_text().replace("NOW * 65 // 100 if m >= 64", "late(shape) if m >= 64")
    text = text.replace("calls: dict", f"{late}calls: dict").replace(begin, f'{begin}        timed = request["sizes"]\n')
    path.write_text(text)
    tuned.commit("a harness in which sizes disturb one another")
    shapes = [f"{rows}x128x512" for rows in range(64, 77)]
    said = tuned.concluded("tune", "--shapes", ",".join(shapes)).out
    assert tables(tuned) == {}
    record = tuned.record("P1")
    assert [each["verdict"] for each in record["buckets"]] == ["KEEP"] * len(shapes)
    assert record["verdict"] == "REJECT"
    assert "76x128x512 regresses" in record["reasons"][0]
    assert "1 regressions and 12 improved of 13 changed shapes" in said
    tuned.concluded("replay", "--all")
    tuned.concluded("report", "--html", "report.html")


def test_regressions_against_times_of_another_day_are_counted(tuned: Foreign) -> None:
    rows = [("64x128x512", 700), ("128x128x512", 600), ("16x128x512", 1)]
    text = "kernel,shape,time_us\n" + "".join(f"gemm,{shape},{time}\n" for shape, time in rows)
    golden = tuned.root.parent / "golden.csv"
    golden.write_text(text)
    said = tuned.concluded("tune", "--golden", str(golden)).out
    assert "2 regressions before, 1 after, of 2 changed shapes that were timed then" in said


def test_two_branches_that_tuned_one_bucket_conflict(tuned: Foreign) -> None:
    tuned.git("branch", "other")
    tuned.concluded("tune", "--shapes", "64x128x512")
    tuned.git("checkout", "-q", "other")
    tuned.edit_protocol('configs: ["2,2,2,2,4,4", "1,2,4,2,2,2"]', 'configs: ["2,2,2,2,4,4"]')
    tuned.concluded("tune", "--shapes", "64x128x512,128x128x512")
    merged = tuned.git("merge", "main", check=False)
    assert "CONFLICT" in merged
    assert SPECIAL in merged


def test_stale_and_malformed_tables_are_refused_with_nothing_changed(tuned: Foreign) -> None:
    tuned.concluded("tune")
    default = tuned.root / TABLES / "DEFAULT.json"
    good = json.loads(default.read_text())
    good["made_with"]["device"] = "another"
    default.write_text(json.dumps(good))
    tuned.commit("from another machine")
    before = tuned.snapshot()
    refused = tuned.expctl("tune")
    assert printed_code(refused.err) == "tune-tables-stale"
    assert "device: made with another, here" in refused.err
    assert tuned.snapshot() == before
    default.write_text('{"any": ')
    tuned.commit("half a file")
    before = tuned.snapshot()
    assert printed_code(tuned.expctl("tune").err) == "table-malformed"
    assert tuned.snapshot() == before


def test_the_drift_of_a_change_stands_beside_its_pinned_gain(repository: Foreign) -> None:
    """With its own best config the baseline is 20 % faster, and the candidate is not: a gain of 10 % is gone."""
    repository.write("bench/benchmark.py", (Path(__file__).parent / "drifting.py").read_text())
    repository.edit_protocol("    benchmark:\n", RULE)
    repository.queue("P1", "def total(values):\n    return sum([value * value for value in values])\n")
    repository.concluded("run", "P1")
    assert repository.record("P1")["verdict"] == "KEEP"
    said = repository.concluded("tune", "drift", "P1", "--json").json()
    drift = repository.record("P1")["drift"]
    assert (said["schema"], said["id"], said["drift"]["configs"]) == ("expctl.tune-drift/1", "P1", drift["configs"])
    assert drift["verdict"] == "REJECT"
    assert drift["configs"] == {
        "baseline": {"n=8000": "2,2,2,2,4,4", "n=2000": "2,2,2,2,4,4"},
        "candidate": {"n=8000": "", "n=2000": ""},
    }
    assert drift["explanation"].startswith("less than with the pinned config (+")
    assert "baseline n=8000 with 2,2,2,2,4,4" in drift["explanation"]
    repository.concluded("replay", "--all")
    repository.concluded("ledger", "--check")
    assert "own best" in repository.concluded("show", "P1").out
    assert repository.expctl("doctor").status == 0
    assert printed_code(repository.expctl("tune", "drift", "P1").err) == "drift-not-possible"
    path = repository.root / "experiments/P1/record.json"
    path.write_text(path.read_text().replace('"verdict": "REJECT"', '"verdict": "KEEP"'))
    repository.commit("another record")
    assert "drift.jsonl says something else" in repository.expctl("replay", "P1").out
