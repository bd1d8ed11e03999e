"""Makes untrusted text safe for one line of a terminal, a commit message or a document."""

import re
import unicodedata

ANSI = (
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI: colours, cursor
    r"|(?:\x1b[\]PX^_]|\x9d|\x90|\x98|\x9e|\x9f)[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # OSC and other strings, ended
    r"|\x1b[ -/]*[0-Z\\-~]"  # two-character escapes
)
# Control, format (bidi marks, zero width, invisible tags), lone surrogates, private use.
UNSEEN = ("Cc", "Cf", "Cs", "Co")
REASON_LETTERS = 3
# Of a commit, as git writes it. A name of nothing but what follows `\x00` is one that git refuses.
AUTHOR = r"(?=[^<\n]*[^\x00-\x20.,:;<>\"\\'])[^<>\n\0]*[^<>\s\0] <[^<>\s\0]+>"
VARIATION_SELECTORS = "[\ufe00-\ufe0f\U000e0100-\U000e01ef]"


def plain_text(text: str) -> str:
    """Return `text` on one line, with single spaces, without control, ANSI, bidirectional or invisible characters."""
    if text.isascii() and text.isprintable():  # most text, and tables have many cells
        return " ".join(text.split()) if "  " in text or text[:1] == " " or text[-1:] == " " else text
    seen = (_visible(letter) for letter in re.sub(VARIATION_SELECTORS, "", re.sub(ANSI, "", text)))
    return " ".join("".join(seen).split())


def one_line(text: str, limit: int = 300) -> str:
    """Return `text` on one line, cleaned by `plain_text` and cut to `limit` characters."""
    shown = plain_text(text)
    return shown if len(shown) <= limit else shown[: limit - 1] + "…"


def written_reason(text: str) -> str:
    """Return a reason that a user typed, cleaned for one line; empty when it has fewer than three letters."""
    shown = plain_text(text)
    return shown if sum(map(str.isalpha, shown)) >= REASON_LETTERS else ""


def has_unseen(text: str) -> bool:
    """Does `text` hold characters that `plain_text` would remove, other than line ends and tabs?"""
    return any(is_unseen(letter) for letter in text if letter not in "\t\n")


def is_unseen(letter: str) -> bool:
    """Is `letter` a control, format, surrogate or private-use character, or a variation selector?"""
    return unicodedata.category(letter) in UNSEEN or bool(re.match(VARIATION_SELECTORS, letter))


def _visible(letter: str) -> str:
    category = unicodedata.category(letter)
    if letter in "\t\n\r\v\f\x1c\x1d\x1e\x85" or category in ("Zl", "Zp", "Zs"):
        return " "
    return "" if category in UNSEEN else letter
