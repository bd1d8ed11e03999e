"""From the bytes of a record to what the index keeps of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from expctl.adapters.codec.record_codec import record_of
from expctl.adapters.git.reader import EXPERIMENTS
from expctl.adapters.index.columns import ground_text, list_text
from expctl.adapters.index.rows import Row, row_of
from expctl.domain.errors import Refused
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.rules.conditions import conditions_of
from expctl.domain.rules.matching import keys_of
from expctl.domain.verdict.side import Side

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader

Folder = tuple[str, str]
"""An experiment, and the tree of its folder."""


class Measured(NamedTuple):
    """A measurement of a record, or of its replication; its ground as text."""

    target: str
    date: str
    base: str
    ground: str


class Reduced(NamedTuple):
    """Of one folder. `row` is None where it holds no record; `proposed` says that it holds a proposal. `words` find its rule,
    as do `patterns`; `hold` is what it hangs on, as text; `ruled` says that it has a rule, or let one pass.
    """

    folder: Folder
    row: Row | None
    measurings: tuple[Measured, ...]
    words: tuple[str, ...]
    patterns: tuple[str, ...]
    hold: str
    ruled: bool
    proposed: bool


class Reduction(Struct, frozen=True, kw_only=True):
    """Reads with `reader`."""

    reader: GitReader

    def of(self, folders: Sequence[Folder]) -> list[Reduced]:
        """All of them, in their order. Raises Refused on a record that is damaged."""
        texts = self.reader.read_blobs(f"{tree}:record.json" for _, tree in folders)
        alone = [tree for _, tree in folders if f"{tree}:record.json" not in texts]
        proposed = self.reader.read_blobs(f"{tree}:experiment.yaml" for tree in alone)
        return [
            self._one(folder, texts.get(f"{folder[1]}:record.json"), proposed=f"{folder[1]}:experiment.yaml" in proposed)
            for folder in folders
        ]

    def _one(self, folder: Folder, text: bytes | None, *, proposed: bool) -> Reduced:
        if text is None:
            return Reduced(folder, None, (), (), (), "", ruled=False, proposed=proposed)
        name, where = folder[0], f"{EXPERIMENTS}/{folder[0]}"
        record = record_of(text, where=f"{where}/record.json")
        if record.id != name:
            raise Refused(
                f"{where}/record.json names {record.id}", code="record-names-another", where=where, hint="restore it from git"
            )
        rule = record.rule
        codes = [made.code for made in record.artifacts.get(Side.CANDIDATE, {}).values()]
        digest = summary_of(record)
        return Reduced(
            folder,
            row_of(digest),
            tuple(Measured(each.target, each.date, each.base, ground_text(each.conditions)) for each in digest.measurings),
            tuple(keys_of(rule, codes)) if rule is not None else (),
            rule.forbids if rule is not None else (),
            list_text(conditions_of(record)) if rule is not None else "",
            ruled=rule is not None or bool(record.waivers),
            proposed=True,
        )
