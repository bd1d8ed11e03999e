"""Escape untrusted text for Markdown documents, terminals and commit messages.

Titles, hypotheses and reasons are written by proposers, and a reader of the ledger may be an agent. Once escaped, such text
can't create tables, links, images, HTML, headings, code or formulas, can't move the cursor, can't reorder or hide letters, and
is one line. All else stays as typed; a backslash precedes what Markdown would take for syntax.
"""

import functools
import re

from expctl.domain.text import plain_text

ALWAYS = re.compile(r"[\\`*|~$]")
OUTER_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]+;)")
# In `a < b` and `<= 1`, the sign opens no HTML tag.
TAG = re.compile(r"<(?![\s=\d])")
# Only a bracket followed by a destination or a label makes a link (a definition must open its line, see OPENING), so
# `[+1.7, +2.9]` stays readable.
LINK = re.compile(r"\](?=[(\[])")
AUTOLINK = re.compile(r"(?<=:)/(?=/)|(?<=\bwww)\.", re.IGNORECASE)
# Characters that open a block or a check box at the start of a line.
OPENING = re.compile(r"^(?:[#>=\[]|[-+](?=[-+ ]|$))")
# Backticks end a code span, a pipe ends its table cell, a dollar may start a formula around it.
NOT_IN_CODE = re.compile(r"[`|$]")
NUMBERED = re.compile(r"^(\d+)([.)])(?= |$)")
# A quick test for most of a ledger's 100,000 cells: of all patterns above, only links and addresses can match.
HARMLESS = re.compile(r"(?:[A-Za-z(]|[-+]?\d+(?!\d|[.)](?: |$)))[^\\`*|~$_&<]*")


class Markdown(str):
    """Text that is Markdown already and must not be escaped: expctl composed it from escaped parts."""

    __slots__ = ()


@functools.lru_cache(maxsize=4096)  # kinds, verdicts and targets repeat in most rows
def markdown_text(text: str) -> str:
    """Escape `text` so that Markdown displays it as typed, also at the start of a line and in a table cell."""
    plain = plain_text(text)
    if HARMLESS.fullmatch(plain) and not ("](" in plain or "][" in plain or ":/" in plain or "w." in plain or "W." in plain):
        return plain
    return escaped_text(plain)


def shown(value: object) -> str:
    """Return `value` as text for a Markdown document, escaped unless it is a `Markdown`."""
    return value if isinstance(value, Markdown) else markdown_text(str(value))


def escaped_text(plain: str) -> str:
    """Escape `plain`, which must be one line without control characters, so that Markdown displays it as typed."""
    escaped = ALWAYS.sub(_after_backslash, plain)
    escaped = OUTER_UNDERSCORE.sub(r"\_", escaped) if "_" in escaped else escaped
    escaped = ENTITY.sub("&amp;", escaped) if "&" in escaped else escaped
    escaped = TAG.sub("&lt;", escaped) if "<" in escaped else escaped
    escaped = LINK.sub(r"\]", escaped) if "]" in escaped else escaped
    escaped = AUTOLINK.sub(_after_backslash, escaped) if "/" in escaped or "." in escaped else escaped
    escaped = OPENING.sub(_after_backslash, escaped)
    return NUMBERED.sub(r"\1\\\2", escaped)


def _after_backslash(found: re.Match[str]) -> str:
    return "\\" + found[0]


def code_text(text: str) -> Markdown:
    """Return `text` (a path, command or commit) as a Markdown code span; escaped if a code span can't contain it."""
    plain = plain_text(text)
    return Markdown(f"`{plain}`" if plain and not NOT_IN_CODE.search(plain) else markdown_text(plain))
