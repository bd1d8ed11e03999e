"""Turn the bytes of a record into the summary that the index stores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct

from expctl.adapters.codec.record_codec import record_in
from expctl.adapters.git.reader import EXPERIMENTS
from expctl.adapters.index.columns import ground_text, json_text
from expctl.adapters.index.rows import Row, row_of
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.rules.conditions import conditions_of
from expctl.domain.rules.matching import keys_of
from expctl.domain.verdict.side import Side

if TYPE_CHECKING:
    from expctl.adapters.git.reader import GitReader

Folder = tuple[str, str]
"""(experiment, hash of its folder's git tree)."""


class Measured(NamedTuple):
    """One measurement, of a record or of one of its replications. `ground`, as JSON, is all on which its figures depend."""

    target: str
    date: str
    base: str
    ground: str


class FolderSummary(NamedTuple):
    """What the index stores of one experiment's folder. `row` is for the table of records; None if the folder has no record.

    If the record has a do-not-repeat rule, a look-up finds it by `words` (hashes) and `patterns` (for added lines), and `hold`
    (JSON) has the conditions under which it holds. `ruled` says that the record has such a rule or waives one.
    """

    folder: Folder
    row: Row | None
    measurings: tuple[Measured, ...]
    words: tuple[str, ...]
    patterns: tuple[str, ...]
    hold: str
    ruled: bool
    proposed: bool


class Summariser(Struct, frozen=True, kw_only=True):
    """Summarises folders of the repository that `reader` reads."""

    reader: GitReader

    def summarise(self, folders: Sequence[Folder]) -> list[FolderSummary]:
        """Return the summaries of `folders`, in order. Raises Refused on a damaged or lost record."""
        at_once = [tree for _, tree in folders] if len(folders) == 1 else []  # most often a new proposal
        asked = [*(f"{tree}:record.json" for _, tree in folders), *(f"{tree}:experiment.yaml" for tree in at_once)]
        if at_once:
            self.reader.read_ahead([*asked, *at_once])
        texts = self.reader.read_blobs(asked)
        alone = [tree for _, tree in folders if f"{tree}:record.json" not in texts]
        proposed = texts if at_once else self.reader.read_blobs(f"{tree}:experiment.yaml" for tree in alone)
        return [
            summarised(folder, texts.get(f"{folder[1]}:record.json"), proposed=f"{folder[1]}:experiment.yaml" in proposed)
            for folder in folders
        ]


def summarised(folder: Folder, text: bytes | None, *, proposed: bool) -> FolderSummary:
    """Return the summary of a folder whose record is `text` (None: it has none). Raises Refused on a damaged one."""
    if text is None:
        return FolderSummary(folder, None, (), (), (), "", ruled=False, proposed=proposed)
    record = record_in(f"{EXPERIMENTS}/{folder[0]}", text)
    rule = record.rule
    codes = [made.code for made in record.artifacts.get(Side.CANDIDATE, {}).values()]
    summary = summary_of(record)
    return FolderSummary(
        folder,
        row_of(summary),
        tuple(Measured(each.target, each.date, each.base, ground_text(each.conditions)) for each in summary.measurings),
        tuple(keys_of(rule, codes)) if rule is not None else (),
        rule.forbids if rule is not None else (),
        json_text(conditions_of(record)) if rule is not None else "",
        ruled=rule is not None or bool(record.waivers),
        proposed=True,
    )
