"""Render the long tables of the ledger in pieces, and reuse pieces that were rendered before.

A column is as wide as its widest cell in the whole table. So each piece is stored with its own widths and those it was rendered
for; when one piece widens a column, all pieces are rendered again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from expctl.domain.ledger.rows import DrawnPiece, Widths
from expctl.views.ledger.markdown_table import head_lines, lines_text, widths_of
from expctl.views.ledger.tables import EXPERIMENT, FORECAST, RULE, experiment_cells, forecast_cells, rule_cells

if TYPE_CHECKING:
    from expctl.domain.ledger.rows import Piece
    from expctl.ports.repository import Drawings

HEADS = (RULE, EXPERIMENT, FORECAST)


class Tables(NamedTuple):
    """Encoded Markdown of the three long tables; b"" for a table without rows."""

    rules: bytes
    experiments: bytes
    forecasts: bytes


def tables(pieces: Sequence[Piece], drawings: Drawings) -> Tables:
    """Render the tables of all `pieces`; newly rendered pieces are stored in `drawings`, unused ones are deleted there."""
    keys = [piece.key for piece in pieces]
    known = drawings.known()
    unread = {piece.key: piece for piece in pieces}
    cells = {key: _cells(unread[key]) for key in keys if key not in known}
    own = {key: known[key].widths if key in known else _widths(cells[key]) for key in keys}
    wanted = tuple(tuple(map(max, zip(*columns, strict=True))) for columns in zip(*own.values(), strict=True))
    drawn = {
        key: known[key]
        if key in known and known[key].aligned == wanted
        else DrawnPiece(own[key], wanted, _texts(cells.get(key) or _cells(unread[key]), wanted))
        for key in keys
    }
    drawings.keep({key: each for key, each in drawn.items() if known.get(key) is not each}, among=keys)
    return Tables(*(_table(number, drawn, wanted) for number in range(len(HEADS))))


def _cells(piece: Piece) -> tuple[list[list[str]], ...]:
    """Return the cells of the rules, experiments and predictions of a piece, row by row."""
    lines = piece.read()
    return rule_cells(lines.rules), experiment_cells(lines.rows, lines.borders), forecast_cells(lines.forecasts)


def _widths(cells: tuple[list[list[str]], ...]) -> Widths:
    return tuple(widths_of(heads, lines) for heads, lines in zip(HEADS, cells, strict=True))


def _texts(cells: tuple[list[list[str]], ...], widths: Widths) -> tuple[bytes, ...]:
    return tuple(lines_text(lines, wide).encode() for lines, wide in zip(cells, widths, strict=True))


def _table(number: int, drawn: Mapping[str, DrawnPiece], widths: Widths) -> bytes:
    texts = [each.texts[number] for each in drawn.values() if each.texts[number]]
    return b"\n".join((head_lines(HEADS[number], widths[number]).encode(), *texts)) if texts else b""
