"""`expctl doctor`: sound is 0, wrong is 1, and the command that it names mends it."""

import re
import shlex
import subprocess

from foreign import EXPCTL, FASTER, Foreign


def wrong(repository: Foreign) -> dict[str, str]:
    """Part -> what to type, of all that the doctor finds wrong."""
    answer = repository.expctl("doctor", "--json")
    found = {each["part"]: each.get("mend", "") for each in answer.json() if each["health"] == "wrong"}
    assert answer.status == bool(found), answer
    said = repository.expctl("doctor")
    assert said.status == answer.status
    assert len(re.findall(r"^wrong ", said.out, re.M)) == len([e for e in answer.json() if e["health"] == "wrong"])
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


def test_without_a_commit_or_a_protocol(repository: Foreign) -> None:
    (repository.root / "protocol.yaml").unlink()
    repository.git("commit", "-q", "-am", "no protocol")
    assert set(wrong(repository)) == {"records"}
