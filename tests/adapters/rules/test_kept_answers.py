"""What compilers told is told again, until something that they were asked with has changed."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from expctl.adapters.rules.kept_answers import KeptAnswers
from expctl.adapters.rules.lookup import RuleLookup
from expctl.domain.rules.told import Answer, Told
from expctl.files.cache_folder import CacheFolder
from tests.fakes.rules import FakeCircumstances

TOLD = (Told(id="P1", level="compiled meaning", likeness="the same"), Told(id="P2", percent=70))
REFUSED = Answer(
    facts={"refused": True, "matches": [{"rule": "P1", "level": "patch", "likeness": "é", "reasons": ["slow"], "changed": []}]},
    refusal={"message": "tried before", "code": "tried-before", "found": "P1"},
    lasts=True,
)
NOW = FakeCircumstances(versions={"ziglang": "0.16.0"})


class Asking:
    """Counts how often compilers are asked."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.times = folder, 0

    def ask(self) -> tuple[Told, ...]:
        self.times += 1
        return TOLD

    def told(
        self, commit: str = "c", patch: bytes = b"p", now: FakeCircumstances = NOW, own_id: str = "", **facts: str
    ) -> None:
        book = self.book(now, facts)
        assert book.told(commit, patch, now, self.ask, own_id=own_id) == TOLD

    def book(self, now: FakeCircumstances, facts: dict[str, str]) -> RuleLookup:
        nothing = None  # what is looked up elsewhere
        return RuleLookup(
            nothing,  # type: ignore[arg-type]
            nothing,  # type: ignore[arg-type]
            tool=str,
            probe=nothing,  # type: ignore[arg-type]
            machine=lambda: {"machine": facts.get("machine", "one")},
            assumed={"epoch": facts["assumed"]} if "assumed" in facts else None,
            answers=KeptAnswers(self.folder),
            installed=now.version,
            code=lambda: facts.get("code", "of expctl"),
        )


def test_what_is_kept_is_not_asked_again(tmp_path: Path) -> None:
    asking = Asking(tmp_path)
    for _ in range(3):
        asking.told()
    assert asking.times == 1


@pytest.mark.parametrize(
    "other",
    [
        {"commit": "d"},
        {"patch": b"q"},
        {"own_id": "P2"},
        {"machine": "another"},
        {"assumed": "1"},
        {"code": "edited"},
        {"now": FakeCircumstances(versions={"ziglang": "0.17.0"})},
        {"now": FakeCircumstances(versions={"ziglang": "0.16.0"}, judges=frozenset({"gfx1151"}))},
    ],
    ids=str,
)
def test_with_anything_else_it_is_asked(other: dict[str, str], tmp_path: Path) -> None:
    asking = Asking(tmp_path)
    asking.told()
    asking.told(**other)  # type: ignore[arg-type]
    assert asking.times == 2


@pytest.mark.parametrize(
    "other",
    [
        {"commit": "d"},
        {"patch": b"q"},
        {"machine": "another"},
        {"assumed": "1"},
        {"code": "edited"},
        {"now": FakeCircumstances(versions={"ziglang": "0.17.0"})},
    ],
    ids=str,
)
def test_a_whole_answer_is_kept_until_anything_is_another(other: dict[str, Any], tmp_path: Path) -> None:
    asking = Asking(tmp_path)

    def kept(commit: str = "c", patch: bytes = b"p", now: FakeCircumstances = NOW, **facts: str) -> Answer | None:
        return asking.book(now, facts).kept(commit, patch)

    asking.told()
    assert kept() is None
    asking.book(NOW, {}).keep("c", b"p", REFUSED)
    assert kept() == REFUSED
    assert kept(**other) is None


def test_an_answer_that_does_not_last_is_not_kept(tmp_path: Path) -> None:
    book = Asking(tmp_path).book(NOW, {})
    book.keep("c", b"p", replace(REFUSED, lasts=False))
    assert book.kept("c", b"p") is None


@pytest.mark.parametrize("damage", [lambda text: text.replace(b"70", b"71"), lambda text: text[:-1], lambda _: b"[]"])
def test_a_damaged_answer_is_asked_again(damage: Callable[[bytes], bytes], tmp_path: Path) -> None:
    asking = Asking(tmp_path / "kept")
    asking.told()
    (kept,) = asking.folder.iterdir()
    assert damage(kept.read_bytes()) != kept.read_bytes()
    kept.write_bytes(damage(kept.read_bytes()))
    asking.told()
    assert asking.times == 2


def test_an_answer_that_cannot_be_kept_is_told_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "full").touch()
    asking = Asking(tmp_path / "full" / "kept")
    asking.told()
    asking.told()
    assert asking.times == 2


def test_the_oldest_answers_go(tmp_path: Path) -> None:
    cache = CacheFolder(tmp_path / "kept", most=10)
    for number in range(30):
        cache.put(str(number), b"told")
        os.utime(tmp_path / "kept" / f"{number}.cache", (number, number))
    assert len([*(tmp_path / "kept").iterdir()]) <= 10
    assert cache.get("29") == b"told"
    assert cache.get("0") is None
