"""`expctl rules` on this project's own history and on a stranger's repository."""

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.e2e.foreign import WRONG, Foreign
from tests.refusals import printed_code

ROOT = Path(__file__).parents[2]


@pytest.fixture
def history(tmp_path: Path) -> Foreign:
    """The experiments and the protocol of this project, in a repository of their own."""
    root = tmp_path / "repository"
    for name in ("experiments", "kernel"):
        shutil.copytree(ROOT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(ROOT / "protocol.yaml", root)
    for beside in ("home", "locks"):
        (tmp_path / beside).mkdir()
    made = Foreign.at(root)
    made.git("init", "-q", "-b", "main")
    made.commit("history")
    return made


def states(repository: Foreign, *words: str) -> dict[str, tuple[str, list[str]]]:
    listed = json.loads(repository.concluded("rules", "--json", *words).out)["rules"]
    return {each["id"]: (each["state"], [lapse["condition"] for lapse in each.get("lapses", [])]) for each in listed}


def test_the_rules_of_the_history_and_what_a_new_compiler_opens(history: Foreign) -> None:
    before, after = states(history), states(history, "--assume", "ziglang=9.9")
    assert [name for name in before if before[name][0] == "reopened" and int(name[1:]) < 15] == ["P11", "P12"]
    opened = {name for name in before if after[name] != before[name]}
    depend = {
        path.parent.name
        for path in (ROOT / "experiments").glob("*/record.json")
        if "ziglang" in (json.loads(path.read_text()).get("rule") or {}).get("conditions", {})
    }
    assert opened == depend
    assert all(after[name][1][:1] == ["ziglang"] for name in opened)
    said = history.concluded("rules").out
    assert "active: a repeat is refused" in said
    assert "changed    baseline free of races: unknown -> yes" in said


def test_the_probe_of_p2_fails_for_gfx1151_and_passes_for_gfx1250(history: Foreign) -> None:
    said = history.concluded("rules", "--probe", "P2", "--arch", "gfx1250").out
    assert "gfx1151    fails: ziglang" in said
    assert "needs target feature gfx1250-insts" in said
    assert "gfx1250    passes: ziglang" in said
    assert history.expctl("rules", "--probe", "P3").status == 1
    assert history.expctl("rules", "--assume", "weather=bad").status == 2


def test_a_stranger_is_refused_a_repeat_and_let_through_with_a_reason(repository: Foreign, tmp_path: Path) -> None:
    repository.queue("P1", WRONG)
    assert "REJECT" in repository.concluded("run", "P1").out
    repository.queue("P2", f"# in other words\n{WRONG}".replace("sum([", "sum( ["))
    repository.queue("P3", f"# in other words\n{WRONG}")
    before = repository.snapshot()
    assert repository.expctl("run", "P3").status == 1
    assert repository.snapshot() == before
    verbatim = tmp_path / "again.patch"
    verbatim.write_bytes((repository.root / "experiments/P1/change.patch").read_bytes())
    refused = repository.expctl("rules", "check", str(verbatim))
    assert refused.status == 1
    assert printed_code(refused.err) == "tried-before"
    assert "likeness: patch" in refused.err
    assert repository.expctl("rules", "check", str(repository.root / "experiments/P2/change.patch")).status == 0
    assert repository.expctl("rules", "check", str(verbatim), "--precondition", "a new interpreter").status == 0
    assert json.loads(repository.expctl("rules", "check", str(verbatim), "--json").out)["refused"] is True
    repository.concluded("new", "P4", "--patch", str(verbatim), "--precondition", "a new interpreter")
    assert "P1 matches (patch) and lets it pass: a new interpreter" in repository.concluded("run", "P4").out
    assert "for the written reason: a new interpreter" in (repository.root / "ledger.md").read_text()
    assert states(repository)["P1"][0] == "waived"


def test_a_file_that_is_no_patch_is_not_free(repository: Foreign, tmp_path: Path) -> None:
    file = tmp_path / "some.patch"
    for contents in (b"", b"\xff\x00garbage", b"--- a/src/total.py\n+++ b/src/total.py\n@@ -1 +1 @@\n nothing\n"):
        file.write_bytes(contents)
        answer = repository.expctl("rules", "check", str(file))
        assert (answer.status, answer.out) == (1, ""), contents
        assert printed_code(answer.err) == "not-a-patch"
    whole = "--- a/src/total.py\n+++ b/src/total.py\n@@ -1 +1 @@\n-not here\n+nor here\n"
    for damaged, why in (
        (whole.replace("-1 +1", "-1,5 +1,5"), "src/total.py: the hunk at line 1 lacks 4 of the lines"),
        (whole.replace("src", "../src"), "the path '../src/total.py' leads out of the repository"),
    ):
        file.write_text(damaged)
        answer = repository.expctl("rules", "check", str(file))
        assert (answer.status, why in " ".join(answer.err.split())) == (1, True), answer.err
    file.write_text(whole)
    answer = repository.concluded("rules", "check", str(file))
    assert "note: it does not fit src/total.py as it is in HEAD" in answer.out
    assert json.loads(repository.concluded("rules", "check", str(file), "--json").out)["misfits"] == ["src/total.py"]


def test_a_record_of_a_newer_version_is_named_by_its_path(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    repository.concluded("run", "P1")
    file = repository.root / "experiments/P1/record.json"
    file.write_text(file.read_text().replace(' "schema"', ' "of_tomorrow": 1,\n "schema"', 1))
    repository.commit("another version of expctl")
    answer = repository.expctl("rules")
    assert answer.status == 1
    assert "experiments/P1/record.json was written by a newer expctl" in answer.err


def test_what_a_proposal_forbids_is_checked_when_it_is_read(repository: Foreign) -> None:
    repository.queue("P1", WRONG)
    file = repository.root / "experiments/P1/experiment.yaml"
    file.write_text(file.read_text() + 'forbids: ["(a+)+"]\nprobe: {source: probes/gone.hip}\n')
    repository.commit("patterns")
    answer = repository.expctl("run", "P1")
    assert (answer.status, "has a repeat inside a repeat" in answer.err) == (1, True)
    file.write_text(file.read_text().replace("(a+)+", "a+b"))
    repository.commit("patterns")
    answer = repository.expctl("run", "P1")
    assert (answer.status, printed_code(answer.err)) == (1, "probe-missing")
    repository.write("probes/gone.hip", "int x;\n")
    repository.commit("the probe")
    for pattern, why in (("b+a", "no line that its own change adds"), (".", "it matches 7 lines of the baseline")):
        file.write_text(re.sub(r"forbids: .*", f'forbids: ["{pattern}"]', file.read_text()))
        repository.commit("patterns")
        answer = repository.expctl("run", "P1")
        assert (answer.status, why in " ".join(answer.err.split())) == (1, True), answer.err
    file.write_text(re.sub(r"forbids: .*", 'forbids: ["sum.*7"]', file.read_text()))
    repository.commit("patterns")
    assert "REJECT" in repository.concluded("run", "P1").out
    rule = repository.record("P1")["rule"]
    assert (rule["forbids"], rule["probe"]) == (["sum.*7"], {"source": "int x;\n"})


def test_other_source_with_the_same_machine_code_is_refused_after_the_build(c_repository: Foreign) -> None:
    kernel = (c_repository.root / "src/total.c").read_text()
    wrong = kernel.replace("result += values[i] * values[i];", "result += values[i] * values[i] + 2;")
    c_repository.queue("P1", wrong, file="src/total.c")
    assert "REJECT" in c_repository.concluded("run", "P1").out
    other = wrong.replace("i++", "++i").replace("values[i] * values[i] + 2", "(values[i] * values[i]) + 2")
    c_repository.queue("P2", other, file="src/total.c")
    patch = c_repository.root / "experiments/P2/change.patch"
    assert c_repository.expctl("rules", "check", str(patch)).status == 0, "its source is new"
    head = c_repository.head()
    answer = c_repository.expctl("run", "P2")
    assert answer.status == 1
    assert "likeness: machine code: other source, but the same machine code on here" in " ".join(answer.err.split())
    assert (c_repository.head(), c_repository.journal("P2")) == (head, [])
    assert c_repository.survivors() == []
    mended = kernel.replace("result += values[i] * values[i];", "result += values[i] * values[i] + 0 * count - 2;")
    c_repository.queue("P3", mended, file="src/total.c")
    assert "REJECT" in c_repository.concluded("run", "P3").out, "other code in the same line is measured"
    c_repository.check_nothing_is_left()
