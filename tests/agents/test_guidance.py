"""AGENTS.md and SKILL.md say the same, are kept true, and leave what others wrote."""

from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.agents.guidance import AGENTS, BEGIN, END, SKILL, documents, guidance, stale, write
from expctl.domain.errors import Refused
from tests.fakes.stage import PROTOCOL


def test_both_files_hold_the_same_short_text(tmp_path: Path) -> None:
    assert stale(tmp_path, PROTOCOL) == (AGENTS, SKILL)
    assert write(tmp_path, PROTOCOL) == (AGENTS, SKILL)
    assert write(tmp_path, PROTOCOL) == stale(tmp_path, PROTOCOL) == ()
    text = guidance(PROTOCOL)
    assert text.splitlines()[0] == "Quick facts"
    assert "a patch may touch: src" in text
    assert len(text.splitlines()) <= 45
    assert all(text in (tmp_path / path).read_text() for path in (AGENTS, SKILL))
    assert (tmp_path / SKILL).read_text().startswith("---\nname: expctl\n")


def test_a_changed_protocol_or_file_is_noticed(tmp_path: Path) -> None:
    write(tmp_path, PROTOCOL)
    assert stale(tmp_path, replace(PROTOCOL, scope=("other",))) == (AGENTS, SKILL)
    (tmp_path / SKILL).write_text("time it yourself\n")
    assert stale(tmp_path, PROTOCOL) == (SKILL,)


def test_what_others_wrote_stays(tmp_path: Path) -> None:
    (tmp_path / AGENTS).write_text("# Ours\n\nBe kind.\n")
    write(tmp_path, PROTOCOL)
    with (tmp_path / AGENTS).open("a") as file:
        file.write("\nAfter.\n")
    assert stale(tmp_path, PROTOCOL) == ()
    write(tmp_path, replace(PROTOCOL, scope=("other",)))
    text = (tmp_path / AGENTS).read_text()
    assert text.startswith("# Ours\n\nBe kind.\n\n" + BEGIN)
    assert text.endswith(END + "\n\nAfter.\n")
    assert (text.count(BEGIN), text.count("touch: other")) == (1, 1)


@pytest.mark.parametrize("text", [f"{BEGIN}\nx\n", f"x\n{END}\n"])
def test_a_lonely_mark_is_refused(text: str) -> None:
    with pytest.raises(Refused, match="one of two marks"):
        documents(PROTOCOL, text)


def test_a_name_cannot_break_the_text() -> None:
    text = guidance(replace(PROTOCOL, name="a\n## b\x1b[2J `c`"))
    assert "- what is made faster: a ## b 'c'" in text


@pytest.mark.parametrize("path", [AGENTS, ".agents"])
def test_a_link_is_not_followed(tmp_path: Path, path: str) -> None:
    (outside := tmp_path / "outside").mkdir()
    (root := tmp_path / "root").mkdir()
    (root / path).symlink_to(outside)
    with pytest.raises(Refused, match="can't be kept there"):
        write(root, PROTOCOL)
    assert list(outside.iterdir()) == []
    (root / path).unlink()
    (root / AGENTS).write_bytes(b"\xff")
    with pytest.raises(Refused, match="can't be kept there"):
        write(root, PROTOCOL)
