"""What the doctor says of protocol.yaml as it lies in the work tree."""

import os
from pathlib import Path

import pytest

from expctl.adapters.doctor.work_tree import protocol_of_work_tree, work_tree_findings
from expctl.domain.checkup import Health
from expctl.files.own_file import BYTES_MAX
from tests.refusals import refuses

TEXT = """\
version: 1
name: x
scope: [src]
harness: [bench]
decides: [here]
targets:
  here:
    build: {toolchain: command, argv: [cc, "{artifact}"]}
    test: {argv: [bench/test], timeout_s: 1}
    benchmark: {argv: [bench/time], timeout_s: 1, sizes: [{name: n, weight: 1}]}
"""


def found(root: Path, text: str) -> list[tuple[Health, str]]:
    (root / "protocol.yaml").write_text(text)
    return [(each.health, each.what) for each in work_tree_findings(root, TEXT.encode())]


def test_the_committed_one_needs_no_word(tmp_path: Path) -> None:
    assert found(tmp_path, TEXT) == []


def test_an_edit_is_noted_and_an_unknown_key_is_wrong(tmp_path: Path) -> None:
    ((health, _),) = found(tmp_path, f"# edited\n{TEXT}")
    assert health is Health.NOTE
    ((health, what),) = found(tmp_path, f"naem: y\n{TEXT}")
    assert health is Health.WRONG
    assert "line 1: naem: unknown key" in what


def test_a_contradiction_is_wrong(tmp_path: Path) -> None:
    ((health, what),) = found(tmp_path, TEXT.replace("decides: [here]", "decides: [there]"))
    assert (health, "line 5: decides: expected one of targets (here), found there" in what) == (Health.WRONG, True)


@pytest.mark.timeout(20)
@pytest.mark.parametrize(
    ("kind", "code"),
    [
        ("missing", "protocol-missing"),
        ("pipe", "not-a-regular-file"),
        ("folder", "not-a-regular-file"),
        ("endless link", "file-not-readable"),
        ("huge", "file-too-large"),
    ],
)
def test_what_is_no_protocol_is_refused_by_what_it_is_and_never_waited_for(tmp_path: Path, kind: str, code: str) -> None:
    file = tmp_path / "protocol.yaml"
    match kind:
        case "pipe":
            os.mkfifo(file)
        case "folder":
            file.mkdir()
        case "endless link":
            file.symlink_to(file.name)
        case "huge":
            file.touch()
            os.truncate(file, BYTES_MAX + 1)
    with refuses(code):
        protocol_of_work_tree(tmp_path)
    found = [each.health for each in work_tree_findings(tmp_path, TEXT.encode())]
    assert found == ([] if kind == "missing" else [Health.WRONG])
