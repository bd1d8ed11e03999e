"""Untrusted text made harmless: for a Markdown document, for a terminal, for a commit message.

Titles, hypotheses and reasons are written by proposers, and a reader of the ledger may be an agent. So text can't draw
tables, links, images, HTML, headings, code or formulas, can't move the cursor, can't reorder or hide letters, and is
always one line. What survives reads as it was typed; a backslash precedes what Markdown would take for syntax.
"""

import functools
import re

from expctl.domain.text import plain_text

ALWAYS = re.compile(r"[\\`*|~$]")
OUTER_UNDERSCORE = re.compile(r"(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")
ENTITY = re.compile(r"&(?=#?[A-Za-z0-9]+;)")
# `a < b` and `<= 1` open no tag.
TAG = re.compile(r"<(?![\s=\d])")
# Only a bracket followed by a destination or a label makes a link (a definition must open its line, see OPENING), so
# `[+1.7, +2.9]` stays readable.
LINK = re.compile(r"\](?=[(\[])")
AUTOLINK = re.compile(r"(?<=:)/(?=/)|(?<=\bwww)\.", re.IGNORECASE)
# What opens a block or a check box at the start of a line.
OPENING = re.compile(r"^(?:[#>=\[]|[-+](?=[-+ ]|$))")
# Backticks end a code span, a pipe ends its table cell, a dollar may start a formula around it.
NOT_IN_CODE = re.compile(r"[`|$]")
NUMBERED = re.compile(r"^(\d+)([.)])(?= |$)")
# Most cells, and a ledger has a hundred thousand: nothing above can match but a link or an address.
HARMLESS = re.compile(r"(?:[A-Za-z(]|[-+]?\d+(?!\d|[.)](?: |$)))[^\\`*|~$_&<]*")


class Markdown(str):
    """Text that is Markdown on purpose: made by our own code from escaped parts."""

    __slots__ = ()


@functools.lru_cache(maxsize=4096)  # kinds, verdicts, targets: most cells say what many others say
def markdown_text(text: str) -> str:
    """Return `text` so that Markdown shows it as typed, at the start of a line or in a table cell alike."""
    plain = plain_text(text)
    if HARMLESS.fullmatch(plain) and not ("](" in plain or "][" in plain or ":/" in plain or "w." in plain or "W." in plain):
        return plain
    return escaped_text(plain)


def shown(value: object) -> str:
    """`value` as a view writes it: escaped, unless it is Markdown."""
    return value if isinstance(value, Markdown) else markdown_text(str(value))


def escaped_text(plain: str) -> str:
    """As `markdown_text`, of one line without invisible letters."""
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
    """Return `text` as a code span, for what is copied (paths, commands, commits); escaped text where a span can't hold it."""
    plain = plain_text(text)
    return Markdown(f"`{plain}`" if plain and not NOT_IN_CODE.search(plain) else markdown_text(plain))
