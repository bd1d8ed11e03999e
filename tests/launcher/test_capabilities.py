"""What is said of a kernel that can't confine a child."""

import pytest

from expctl.launcher.capabilities import SWITCH, Capabilities, detect_capabilities
from expctl.launcher.namespaces import Entry


def made(landlock: int, entry: Entry, **more: bool) -> Capabilities:
    return Capabilities(
        landlock=landlock,
        entry=entry,
        groups=False,
        **{"filters_calls": True, "own_processes": entry is not Entry.NONE, **more},
    )


@pytest.mark.parametrize(
    ("here", "words", "gaps"),
    [
        (made(7, Entry.PRIVILEGED), "landlock 7, own mounts, own network, own processes, own calls", []),
        (made(6, Entry.AS_USER), "landlock 6, own mounts, own network, own processes, own calls", []),
        (made(7, Entry.AS_USER, own_processes=False), "landlock 7, own mounts, own network, own calls", ["no pid namespace"]),
        (made(5, Entry.AS_USER), "landlock 5, own mounts, own network, own processes, own calls", ["signals"]),
        (made(0, Entry.AS_USER), "own mounts, own network, own processes, own calls", ["signals"]),
        (made(7, Entry.NONE), "landlock 7, own calls", ["the network"]),
        (made(2, Entry.NONE), "landlock 2, own calls", ["the network", "signals", "cut off files"]),
        (made(0, Entry.NONE), "unconfined: no Landlock, no namespaces", ["unconfined: this kernel has neither"]),
        (made(0, Entry.NONE, switched_off=True), f"unconfined: switched off by {SWITCH}", [f"unconfined: {SWITCH} is set"]),
    ],
    ids=lambda value: str(value) if isinstance(value, str) else "",
)
def test_what_is_said(here: Capabilities, words: str, gaps: list[str]) -> None:
    assert here.words() == words
    assert len(here.gaps()) == len(gaps)
    assert all(sign in gap for sign, gap in zip(gaps, here.gaps(), strict=True))


def test_it_can_be_switched_off_and_that_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SWITCH, "1")
    assert detect_capabilities().switched_off
    assert "unconfined" in detect_capabilities().words()
    monkeypatch.setenv(SWITCH, "0")
    assert not detect_capabilities().switched_off
