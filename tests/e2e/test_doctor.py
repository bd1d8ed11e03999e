"""`expctl doctor`: sound is 0, wrong is 1, and the command that it names mends it."""

import os
import re
import shlex
import subprocess
from hashlib import sha256

from tests.e2e.foreign import EXPCTL, FASTER, SLOWER, Foreign

NEWER = ("P2/queued.json", "P1/samples.jsonl", "P1/record.json")


def wrong(repository: Foreign) -> dict[str, str]:
    """Part -> what to type, of all that the doctor finds wrong."""
    answer = repository.expctl("doctor", "--json")
    checks = answer.json()["checks"]
    found = {each["part"]: each.get("mend", "") for each in checks if each["health"] == "wrong"}
    assert answer.status == bool(found), answer
    said = repository.expctl("doctor")
    assert said.status == answer.status
    assert len(re.findall(r"^wrong ", said.out, re.M)) == len([each for each in checks if each["health"] == "wrong"])
    return found


def type_it(repository: Foreign, command: str) -> None:
    """What the user does with it."""
    command = command.replace("expctl ", f"{shlex.quote(str(EXPCTL))} ")
    environment = {**repository.environment, "PATH": f"{repository.environment['PATH']}:/usr/bin:/bin"}
    subprocess.run(command, shell=True, cwd=repository.root, env=environment, check=True, capture_output=True)


def test_each_thing_that_is_wrong_is_mended_by_the_command_that_is_named(repository: Foreign) -> None:
    repository.propose("P1", FASTER)
    repository.concluded("run", "P1")
    assert wrong(repository) == {}
    git = repository.root / ".git"

    repository.write("ledger.md", "by hand\n")
    repository.git("update-ref", "refs/expctl/P99", "HEAD")
    (git / "worktrees" / "expctl-b").mkdir(parents=True)
    (git / "refs" / "expctl" / "P1.lock").touch()
    found = wrong(repository)
    assert set(found) == {"ledger", "refs", "worktrees", "locks"}
    for part in ("ledger", "refs", "worktrees"):
        type_it(repository, found[part])
    assert wrong(repository) == {}

    (git / "index.lock").touch()
    assert "rm .git/index.lock" in wrong(repository)["locks"]
    (git / "index.lock").unlink()

    record = repository.root / "experiments/P1/record.json"
    record.write_text(record.read_text().replace('"KEEP"', '"REJECT"', 1))
    repository.git("commit", "-q", "-am", "by hand")
    assert "records" in wrong(repository)


def test_a_malformed_proposal_stops_only_itself(repository: Foreign) -> None:
    repository.propose("P1", FASTER)
    for name, text in (("P2", "id: [\n"), ("P3", "id: P3\ntitle: wider\nkind: quick\n"), ("P4", None)):
        repository.queue(name, FASTER.replace("value * value", "value ** 2"))
        if text is not None:
            repository.write(f"experiments/{name}/experiment.yaml", text)
    repository.write("experiments/P4/queued.json", "{")
    repository.commit("by hand")
    states = {each["id"]: each["state"] for each in repository.concluded("queue", "--json").json()["entries"]}
    assert states == {"P1": "ready", "P2": "malformed", "P3": "malformed", "P4": "malformed"}
    assert "malformed  (can't be read)   experiments/P2/experiment.yaml: not YAML" in repository.concluded("queue").out
    assert "malformed experiments/P4/queued.json: " in repository.concluded("status").out
    repository.concluded("brief")
    repository.concluded("ledger")
    repository.commit("the ledger")
    repository.concluded("ledger", "--check")
    said = [line for line in repository.expctl("doctor").out.splitlines() if line.startswith("wrong")]
    assert [line.split()[1:3] for line in said] == [
        ["proposals", f"experiments/{file}:"] for file in ("P2/experiment.yaml", "P3/experiment.yaml", "P4/queued.json")
    ]
    assert "kind (line 3): expected" in said[1]
    assert "hypothesis: missing" in said[1]
    (repository.root / "experiments/P2/change.patch").unlink()
    repository.write(
        "experiments/P2/experiment.yaml", (repository.root / "experiments/P1/experiment.yaml").read_text().replace("P1", "P2")
    )
    repository.commit("a proposal without a change")
    assert "wrong   proposals    experiments/P2/change.patch: " in repository.expctl("doctor").out
    for words in (("run", "P3"), ("show", "P3")):
        refused = repository.expctl(*words)
        assert refused.status == 1
        assert "kind (line 3): expected" in refused.err
        assert "hypothesis: missing" in refused.err

    ended = repository.concluded("run", "--all")
    assert repository.record("P1")["verdict"] == "KEEP"
    assert "P3 is malformed: experiments/P3/experiment.yaml: " in ended.err + ended.out
    assert "nothing in the queue can run: 3 malformed" in ended.err + ended.out
    repository.propose("P5", FASTER.replace("value * value", "(value * value)"))
    for name in ("P2", "P3", "P4"):
        repository.concluded("withdraw", name, "--why", "nobody knows what it was")
    assert {each["id"]: each["state"] for each in repository.concluded("queue", "--json").json()["entries"]} == {
        "P2": "withdrawn", "P3": "withdrawn", "P4": "withdrawn", "P5": "ready"
    }  # fmt: skip


def test_what_is_damaged_is_named_once(repository: Foreign) -> None:
    repository.edit_protocol("scope: [src]", "scope: [src")
    (said,) = (line for line in repository.expctl("doctor").out.splitlines() if line.startswith("wrong   records"))
    assert "protocol.yaml has 1 problem: not YAML" in said
    assert "protocol.yaml: protocol.yaml" not in said


def test_every_damaged_record_is_named(repository: Foreign) -> None:
    for name in ("P1", "P2"):
        repository.write(f"experiments/{name}/record.json", "half a rec")
    repository.git("add", "-A")
    repository.git("commit", "-q", "-m", "damage")
    said = [line for line in repository.expctl("doctor").out.splitlines() if line.startswith("wrong   records")]
    assert [name for line in said for name in ("P1", "P2") if f"experiments/{name}/record.json" in line] == ["P1", "P2"]


def test_a_damaged_journal(repository: Foreign) -> None:
    repository.propose("P1", FASTER)
    journal = repository.root / ".git/expctl/journal/P1.jsonl"
    journal.parent.mkdir(parents=True, exist_ok=True)
    journal.write_text('{"seq": 0}\n{"seq": 1}\n')
    refused = repository.expctl("run", "P1")
    assert (refused.status, "expctl doctor" in refused.err) == (1, True)
    mend = wrong(repository)["journal"]
    assert mend.startswith("mv .git/expctl/journal/P1.jsonl ")
    type_it(repository, mend)
    assert repository.record("P1")["verdict"] == "KEEP"
    assert wrong(repository) == {}
    journal.write_text("null\n")
    assert "line 1 is not such an object: a value of another kind" in repository.expctl("doctor").out


def test_what_a_newer_expctl_wrote_needs_an_upgrade_and_nothing_else(repository: Foreign) -> None:
    repository.propose("P1", FASTER)
    repository.concluded("run", "P1")
    repository.propose("P2", SLOWER)
    ticket, samples, record = (repository.root / "experiments" / name for name in NEWER)
    ticket.write_text(ticket.read_text().replace("{", '{"schema": 7,', 1))
    old = samples.read_bytes()
    samples.write_bytes(old.replace(b"{", b'{"of_tomorrow":1,', 1))
    hashes = [sha256(each).hexdigest() for each in (old, samples.read_bytes())]
    record.write_text(record.read_text().replace(hashes[0], hashes[1]))
    repository.commit("another version of expctl")
    found = wrong(repository)
    assert {name: mend.partition(" (")[0] for name, mend in found.items() if name != "ledger"} == {
        "proposals": "upgrade expctl from its repository",
        "records": "upgrade expctl from its repository",
    }


def test_words_of_a_proposal_are_no_version(repository: Foreign) -> None:
    repository.queue("P1", FASTER)
    repository.write("experiments/P1/experiment.yaml", "id: P1\ntitle: wider\nkind: was written by a newer expctl\n")
    repository.commit("by hand")
    assert wrong(repository)["proposals"].startswith("correct that file")


def test_a_pipe_in_place_of_a_file_of_state(repository: Foreign) -> None:
    repository.concluded("status")
    os.mkfifo(repository.root / ".git/expctl/durations.json")
    assert "durations" in repository.expctl("doctor").out


def test_the_environment_is_audited(repository: Foreign) -> None:
    repository.edit_protocol("decides: [here]", "decides: [here]\nenvironment: {pass_through: [TORCHINDUCTOR_FREEZING]}")
    repository.write("bench/test.py", f"if 0:\n    f = torch.compile(f)\n{(repository.root / 'bench/test.py').read_text()}")
    assert wrong(repository) == {}
    checks = repository.concluded("doctor", "--json").json()["checks"]
    (said,) = (each for each in checks if each["what"].startswith("first compilation: "))
    assert said["what"].endswith("here.test ends after 30 s, and bench/test.py uses torch.compile")
    assert said["health"] == "advice"
    assert (said["part"], said["mend"]) == ("environment", "in protocol.yaml: targets.here.test.timeout_s: 600")
    lines = repository.concluded("doctor", "env").out.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith("advice  environment  first compilation"))
    assert [line.split()[0] for line in lines[at + 1 : at + 3]] == ["why", "next"]
    assert {each["part"] for each in repository.concluded("doctor", "env", "--json").json()["checks"]} == {"environment"}


def test_the_environment_of_a_shell_and_a_program_that_is_not_there(repository: Foreign) -> None:
    outside = repository.home
    assert repository.expctl("doctor", cwd=outside).status == 1
    assert repository.expctl("doctor", "env", cwd=outside).status == 0
    for words in ("gone.py", "'half", "''"):
        refused = repository.expctl("doctor", "env", "--script", words, cwd=outside)
        assert (refused.status, "[doctor-script-missing]" in refused.err) == (2, True)


def test_a_record_names_its_settings_and_variables(repository: Foreign) -> None:
    repository.edit_protocol(
        "decides: [here]", "decides: [here]\nenvironment: {pass_through: [HIP_STREAMS, CUDA_VISIBLE_DEVICES]}"
    )
    repository.environment |= {"HIP_STREAMS": "2", "CUDA_VISIBLE_DEVICES": "0"}
    repository.propose("P1", FASTER)
    repository.concluded("run", "P1")
    found = repository.record("P1")["environment"]
    assert found["variables"] == "HIP_STREAMS=2"
    assert re.fullmatch("[0-9a-f]{12}", found["fingerprint"])


def test_without_a_commit_or_a_protocol(repository: Foreign) -> None:
    (repository.root / "protocol.yaml").unlink()
    repository.git("commit", "-q", "-am", "no protocol")
    assert set(wrong(repository)) == {"records"}
