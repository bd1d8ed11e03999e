"""Patches that reach for what no proposal may touch, or that are no patches."""

import pytest
from mcp import Client

from tests.e2e.agents.client import error, facts, patch_of, talk
from tests.e2e.agents.strangers.arguments import faults
from tests.e2e.foreign import FASTER, SLOWER, Foreign

WORDS = {"title": "an idea", "hypothesis": "less to do"}


def adds(path: str, mode: str = "100644", line: str = "x") -> str:
    """A patch that adds a file."""
    return f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n"


TOTAL = "diff --git a/src/total.py b/src/total.py\n--- a/src/total.py\n+++ b/src/total.py\n"
NOT_ALLOWED = {
    "harness": adds("bench/extra.py"),
    "protocol": adds("protocol.yaml.new"),
    "record": adds("experiments/P1/record.json", line="{}"),
    "ticket": adds("experiments/P1/queued.json", line="{}"),
    "ledger": adds("ledger.md.md"),
    "git": adds("src/.git/config"),
    "git in capitals": adds("src/.GIT/hooks/pre-commit", mode="100755"),
    "attributes": adds("src/.gitattributes", line="* filter=x"),
    "modules": adds(".gitmodules"),
    "above": adds("src/../bench/extra.py"),
    "outside": adds("../outside.py"),
    "absolute": adds("/tmp/outside.py"),
    "link": adds("src/link", mode="120000", line="/etc/passwd"),
    "submodule": adds("src/sub", mode="160000", line="Subproject commit " + "1" * 40),
    "program": adds("src/run.sh", mode="100755"),
    "escape": adds('"src/\\033[2J.py"'),
    "moved harness": "diff --git a/bench/test.py b/src/test.py\nsimilarity index 100%\n"
    "rename from bench/test.py\nrename to src/test.py\n",
    "mode": "diff --git a/src/total.py b/src/total.py\nold mode 100644\nnew mode 100755\n",
    "two heads": adds("src/a.py").replace("+++ b/src/a.py", "+++ b/bench/test.py"),
    "binary": "diff --git a/src/a.bin b/src/a.bin\nnew file mode 100644\n"
    "GIT binary patch\nliteral 1\nIcmZQ!00IC2\n\nliteral 0\nHcmV?d00001\n\n",
}
NO_PATCH = {
    "nothing": "\n\n",
    "prose": "please make it faster\n",
    "half": TOTAL + "@@ -1,3 +1,3 @@\n def",
    "wrong lines": TOTAL + "@@ -90,1 +90,1 @@\n-no\n+yes\n",
    "counts": TOTAL + "@@ -1,999999999 +1,1 @@\n-x\n+y\n",
    "heads alone": "diff --git a/src/total.py b/src/total.py\n" * 3000,
}


@pytest.mark.parametrize("tool", ["rules_check", "try", "propose"])
def test_no_tool_takes_a_patch_that_reaches_out(repository: Foreign, tool: str) -> None:
    before = repository.snapshot()
    found: list[str] = []

    async def conversation(client: Client) -> None:
        for patch in (*NOT_ALLOWED.values(), *NO_PATCH.values()):
            words = WORDS if tool == "propose" else {}
            found.extend(await faults(client, tool, {"patch": patch, **words}, refused=tool == "propose"))

    log = talk(repository, conversation)
    assert found == []
    assert "Traceback" not in log
    assert repository.snapshot() == before
    assert not (repository.root.parent / "outside.py").exists()


def test_a_good_change_does_not_carry_a_bad_one(repository: Foreign) -> None:
    good = patch_of(repository)
    before = repository.snapshot()

    async def conversation(client: Client) -> None:
        for bad in ("harness", "link", "attributes", "ticket", "program"):
            for patch in (good + NOT_ALLOWED[bad], NOT_ALLOWED[bad] + good):
                await error(client, "propose", patch=patch, **WORDS)

    talk(repository, conversation)
    assert repository.snapshot() == before


def test_the_same_change_in_other_words_is_no_second_proposal(repository: Foreign) -> None:
    """Two proposals are the same change by git's patch id: other words, line numbers or white space make no other change."""
    head, blank = "def total(values):\n", "    return sum([value * value  for value  in values])\n"

    async def conversation(client: Client) -> None:
        patch = patch_of(repository)
        await facts(client, "propose", patch=patch, **WORDS)
        for again in (patch, patch_of(repository, head + blank), patch.replace("@@\n", "@@ def total(values):\n", 1)):
            assert "P1" in await error(client, "propose", patch=again, title="entirely new", hypothesis="another reason")

    talk(repository, conversation)
    assert "P2" not in repository.concluded("queue").out


def test_lines_that_end_otherwise_are_one_change(repository: Foreign) -> None:
    """A client that sends CR LF gets a proposal that applies, or one error; never a file with both."""
    found: list[str] = []

    async def conversation(client: Client) -> None:
        crlf = patch_of(repository).replace("\n", "\r\n")
        found.extend(await faults(client, "propose", {"patch": crlf, **WORDS}))

    talk(repository, conversation)
    assert found == []
    if "P1" in repository.concluded("queue").out:
        assert "\r" not in repository.git("show", "HEAD:experiments/P1/change.patch")


def test_the_users_work_is_not_touched(repository: Foreign) -> None:
    patch = patch_of(repository)
    repository.write("src/total.py", SLOWER)
    repository.write("bench/test.py", "print('mine')\n")
    repository.write("notes.txt", "mine\n")
    repository.git("add", "notes.txt")
    before = (repository.git("diff"), repository.git("diff", "--cached"), repository.git("status", "--porcelain"))

    async def conversation(client: Client) -> None:
        await facts(client, "propose", patch=patch, **WORDS)
        await facts(client, "try", patch=patch)

    talk(repository, conversation)
    assert (repository.git("diff"), repository.git("diff", "--cached"), repository.git("status", "--porcelain")) == before
    assert all(path.split("/")[0] in ("experiments", "ledger.md") for path in repository.changed_by("HEAD"))


def test_a_repository_in_the_middle_of_something(repository: Foreign) -> None:
    """An unfinished merge, and an index that another git holds: one error, and the same state."""
    patch = patch_of(repository)
    repository.git("checkout", "-q", "-b", "side")
    repository.write("src/total.py", SLOWER)
    repository.commit("side")
    repository.git("checkout", "-q", "main")
    repository.write("src/total.py", FASTER)
    repository.commit("main")
    repository.git("merge", "side", check=False)
    before = repository.snapshot()

    async def merging(client: Client) -> None:
        await error(client, "propose", patch=patch, **WORDS)
        await facts(client, "status")

    talk(repository, merging)
    assert repository.snapshot() == before
    repository.git("merge", "--abort")
    good = patch_of(repository, SLOWER)
    (repository.root / ".git/index.lock").touch()
    head = repository.head()

    async def locked(client: Client) -> None:
        await error(client, "propose", patch=good, **WORDS)

    talk(repository, locked)
    assert repository.head() == head
    (repository.root / ".git/index.lock").unlink()
