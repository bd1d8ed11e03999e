"""`expctl agents`, typed by a person."""

import json

from tests.e2e.foreign import Foreign


def test_grants_are_given_listed_and_taken(repository: Foreign) -> None:
    assert repository.concluded("agents", "grants").out == "nothing is granted\n"
    given = repository.concluded("agents", "grant", "run", "--hours", "2", "--json").json()
    assert (given["schema"], given["tool"]) == ("expctl.agents-grant/1", "run")
    assert repository.concluded("agents", "grants", "--json").json()["grants"] == {"run": given["until"]}
    assert json.loads((repository.root / ".git" / "expctl" / "grants.json").read_text()).keys() == {
        "run",
        "check",
    }  # and its hash
    assert repository.concluded("agents", "revoke", "run").out == "run  revoked\n"
    assert repository.concluded("agents", "revoke", "run").out == "run  was not granted\n"
    for words, code in (
        (("grant", "verdict"), "no-such-grant"),
        (("grant", "run", "--until", "x"), "not-a-deadline"),
        (("grant", "run", "--hours", "0"), "grant-until-when"),
    ):
        refused = repository.expctl("agents", *words)
        assert refused.status == 2
        assert refused.err.startswith(f"Error [{code}]")


def test_setup_writes_and_checks_what_agents_are_told(repository: Foreign) -> None:
    stale = repository.expctl("agents", "setup", "--check")
    assert stale.status == 1
    assert stale.err.startswith("Error [guidance-stale]")
    written = repository.concluded("agents", "setup", "--json").json()
    assert written["written"] == ["AGENTS.md", ".agents/skills/expctl/SKILL.md"]
    assert repository.concluded("agents", "setup", "--check").out.endswith("are true\n")
    text = (repository.root / "AGENTS.md").read_text()
    assert "- a patch may touch: src\n" in text
    assert "bench" in text
    repository.commit("what agents are told")
    repository.edit_protocol("scope: [src]", "scope: [src, more]")
    assert repository.expctl("agents", "setup", "--check").status == 1
