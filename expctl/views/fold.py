"""Fold long lines to a terminal's width, under their label, so that the terminal itself never wraps them."""

import unicodedata

LABEL = 13  # columns of two spaces, a label of ten, and a space
WIDTH_LEAST = 30


def cells(text: str) -> int:
    """Return how many columns of a terminal `text` takes: East Asian wide letters take two, combining ones none."""
    if text.isascii():
        return len(text)
    return sum(0 if unicodedata.combining(each) else 2 if unicodedata.east_asian_width(each) in "WF" else 1 for each in text)


def folded(line: str, width: int, label: int = LABEL) -> list[str]:
    """Return `line` in parts of at most `width` columns, broken at spaces where there are any. Further parts are indented to
    the text behind a label of `label` columns (`  gate       quiet`), or two columns deeper than the first.
    """
    if cells(line) <= width or width < WIDTH_LEAST:
        return [line]
    start = len(line) - len(line.lstrip())
    labelled = line[:2] == "  " and line[label - 1 : label] == " " and line[label : label + 1].strip()
    indent = " " * (label if labelled else start + 2)
    parts: list[str] = []
    rest = line
    while cells(rest) > width:
        end = _break(rest, width, least=len(indent) if parts else label if labelled else start)
        parts.append(rest[:end].rstrip())
        rest = indent + rest[end:].lstrip()
    return [*parts, rest]


def _break(text: str, width: int, least: int) -> int:
    """Return where to break `text`: behind the last space that lets it fit, or amid a word that is too long by itself."""
    fits = len(text)
    while cells(text[:fits]) > width:
        fits -= 1
    space = text.rfind(" ", least + 1, fits + 1)
    return space if space > least else fits
