"""The playbooks that come with expctl can be read, and each says how far its figure reaches."""

import tomllib
from pathlib import Path

import pytest

from expctl.adapters.playbooks import shelf
from expctl.domain.errors import Misused
from expctl.domain.experiment.playbook import Playbook, playbook_faults
from expctl.domain.experiment.proposal import Kind

FOLDER = Path(shelf.__file__).parent
ABLATIONS = ["half-fragment-loads", "no-decode", "no-epilogue", "reuse-lds", "zero-inputs"]


def one(**values: object) -> Playbook:
    words = {"title": "t", "kind": Kind.PERF, "why": "w", "bounds": "b", "does_not_prove": "d", "change": "c"}
    return Playbook(**{**words, **values})  # type: ignore[arg-type]


def test_every_file_of_the_folder_is_a_playbook_or_the_patch_of_one() -> None:
    known = shelf.playbooks()
    files = {path.relative_to(FOLDER).as_posix() for path in FOLDER.glob("*/*") if path.suffix != ".pyc"}
    expected = {
        f"{folder}/{name}.yaml" for folder in shelf.FOLDERS for name in known if (FOLDER / folder / f"{name}.yaml").exists()
    }
    expected |= {f"ablations/{each.patch}" for each in known.values() if each.patch}
    assert len(expected) == len(known) + len(ABLATIONS)
    assert files == expected


def test_the_wheel_is_told_of_them() -> None:
    settings = tomllib.loads((FOLDER.parents[2] / "pyproject.toml").read_text())
    patterns = settings["tool"]["setuptools"]["package-data"]["expctl.adapters.playbooks"]
    packed = {path for pattern in patterns for path in FOLDER.glob(pattern)}
    assert packed == {path for folder in shelf.FOLDERS for path in (FOLDER / folder).iterdir()}


def test_ablations_are_analyses_which_never_land() -> None:
    known = shelf.playbooks()
    assert [name for name, each in known.items() if each.kind is Kind.ANALYSIS] == ABLATIONS
    assert all("wrong by design" in known[name].does_not_prove for name in ABLATIONS)


def test_the_ladder_has_a_rung_for_each_level() -> None:
    levels = {each.title[: len("Level 1")] for each in shelf.playbooks().values() if each.kind is not Kind.ANALYSIS}
    assert levels == {f"Level {level}" for level in range(1, 6)}


def test_the_hypothesis_holds_all_three_sentences() -> None:
    assert one(why="W.", bounds="B.", does_not_prove="D.").hypothesis == "W. Bounds: B. Does not prove: D."


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({}, None),
        ({"change": ""}, "expected one of patch, env and change, found none"),
        ({"patch": "x.patch"}, "expected one of patch, env and change, found patch, change"),
        ({"bounds": " "}, "bounds: expected some words"),
        ({"does_not_prove": ""}, "does_not_prove: expected some words"),
    ],
)
def test_faults_of_one(values: dict[str, object], fault: str | None) -> None:
    assert list(playbook_faults(one(**values))) == ([fault] if fault else [])


def test_a_wrong_name_is_answered_with_the_nearest() -> None:
    with pytest.raises(Misused) as raised:
        shelf.playbook("no-epilog")
    assert (raised.value.code, raised.value.hint) == ("no-such-playbook", "expctl new --from no-epilogue")


@pytest.mark.parametrize("name", ["../ladder/1-environment", "", "ablations"])
def test_a_name_is_never_a_path(name: str) -> None:
    with pytest.raises(Misused):
        shelf.playbook(name)
