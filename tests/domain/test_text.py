"""Untrusted text on one line."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from expctl.domain.text import has_unseen, one_line, plain_text, written_reason

HOSTILE = {
    "colour": ("\x1b[31mred\x1b[0m", "red"),
    "cursor": ("a\x1b[2J\x1b[1;1Hb", "ab"),
    "8-bit CSI": ("a\x9b31mb", "ab"),
    "window title": ("\x1b]0;owned\x07text", "text"),
    "link": ("\x1b]8;;http://evil\x1b\\click\x1b]8;;\x1b\\", "click"),
    "unended title": ("\x1b]0;owned", "0;owned"),
    "nested escape": ("\x1b[\x1b[31m31mtext", "[31mtext"),
    "reset": ("a\x1bcb", "ab"),
    "bidi override": ("user\u202etxt.exe", "usertxt.exe"),
    "bidi isolate": ("a\u2066b\u2069c", "abc"),
    "zero width": ("a\u200bb\ufeffc\u00add", "abcd"),
    "tags": ("a\U000e0041b", "ab"),
    "variation": ("a\ufe0fb", "ab"),
    "surrogate": ("a\ud800b", "ab"),
    "private use": ("a\ue000b", "ab"),
    "trailer": ("title\n\nExpctl-Id: P9", "title Expctl-Id: P9"),
    "carriage return": ("good\rbad", "good bad"),
    "unicode lines": ("a\u2028b\u2029c\x85d", "a b c d"),
    "spaces": ("  a \t\v\f b  \u00a0c ", "a b c"),
    "bell and nul": ("a\x07b\0c", "abc"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_acts_is_taken_out(name: str) -> None:
    given_text, plain = HOSTILE[name]
    assert plain_text(given_text) == plain


ACTING = "\x1b\x9b\x9d\x07\x9c[]0;31mPX^_\\ \n\r\t\u2028\u202e\u200b\ufe0fabc"


@given(st.one_of(st.text(), st.text(ACTING)))
def test_the_result_is_one_visible_line(text: str) -> None:
    plain = plain_text(text)
    assert len(plain.splitlines()) <= 1
    assert not [c for c in plain if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")]
    assert plain.encode().decode() == plain


@given(st.one_of(st.text(), st.text(ACTING)))
def test_to_clean_twice_changes_nothing(text: str) -> None:
    assert plain_text(plain_text(text)) == plain_text(text)


@given(st.text(st.characters(categories=("L", "N", "P", "S")), max_size=50).map(plain_text))
def test_plain_words_stay(text: str) -> None:
    assert one_line(text) == text


@given(st.text(), st.integers(1, 40))
def test_a_line_keeps_its_limit(text: str, limit: int) -> None:
    line = one_line(text, limit)
    assert len(line) <= limit
    assert line == plain_text(text) or line.endswith("…")


@pytest.mark.parametrize("text", ["plain", "größer ≥ 2 µs", "two\nlines\tand a tab", ""])
def test_what_can_be_seen_is_not_called_unseen(text: str) -> None:
    assert not has_unseen(text)


@pytest.mark.parametrize("text", ["\x1b[31m", "a\u202eb", "a\u200bb", "a\ufe0f", "a\rb", "\x00", "\udc80", "\U000e0041"])
def test_what_cannot_be_seen_is_found(text: str) -> None:
    assert has_unseen(text)


@pytest.mark.parametrize("text", ["", " ", "\u200b", "\x1b[31m\x1b[0m", "...", "1234", "ab", "\u202e\u2066"])
def test_what_nobody_can_read_is_no_reason(text: str) -> None:
    assert written_reason(text) == ""
    assert written_reason(f"{text} new tile\x1b[0m").endswith("new tile")
