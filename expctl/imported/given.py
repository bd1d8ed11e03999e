"""What a user says about a hand-kept ledger where its words aren't sure: columns, words of verdicts, directions of units."""

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from expctl.domain.errors import Misused
from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Document
from expctl.imported.heads import Role
from expctl.imported.places import places
from expctl.imported.rows import read_document
from expctl.imported.units import Better, name_of
from expctl.imported.verdict_columns import Map
from expctl.imported.verdicts import said_as

SUFFIX = ".import.yaml"
WAITS = "WAIT"
PROPOSED = "proposed"
# `line 12=KEEP`, `lines 12, 15-18=REJECT`
LINES = re.compile(r"lines?\s+(\d+(?:\s*[-,]\s*\d+)*)\s*=\s*(\w[\w-]*)", re.ASCII)


class Given(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`columns` are heads by role (id, verdict, change, result, reason, date), `verdicts` verdicts by words (WAIT: none
    yet), `lines` verdicts by the text of a line, `units` higher or lower by unit or column head, e.g. tok_s. It is kept in a
    file beside the ledger.
    """

    columns: dict[str, str] = {}
    verdicts: dict[str, str] = {}
    lines: dict[str, str] = {}
    units: dict[str, str] = {}

    def map(self) -> Map:
        """Return heads by role, and verdicts by words in small letters. Raises Misused for a name that is neither."""
        for role in self.columns:
            if role not in list(Role):
                raise _refused(f"{role}={self.columns[role]}")
        for words, verdict in (*self.verdicts.items(), *self.lines.items()):
            if verdict not in (WAITS, *Verdict):
                raise _refused(f"{words}={verdict}")
        return Map(
            heads={Role(role): head for role, head in self.columns.items()},
            meanings={said_as(words): _verdict(said) for words, said in self.verdicts.items()},
            lines={text: _verdict(said) for text, said in self.lines.items()},
        )

    def directions(self) -> dict[str, Better]:
        """Return which direction is better, by name of the unit. Raises Misused for a direction that is neither."""
        for unit, better in self.units.items():
            if better not in list(Better):
                raise Misused(
                    "--unit does not say which direction is better",
                    code="unit-without-direction",
                    expected="UNIT=higher or UNIT=lower",
                    found=f"{unit}={better}",
                    hint="expctl import FILE --dry-run --unit tok_s=higher",
                )
        return {name_of(unit): Better(better) for unit, better in self.units.items()}


def given_by(before: Given, maps: Sequence[str], units: Sequence[str], document: Document | None = None) -> Given:
    """Return `before` with what the options say: `verdict=Outcome` names a column, `retained=KEEP` a verdict, `line 12=KEEP`
    what a line of `document` is, `tok_s=higher` what is better. `proposed` takes all verdicts that are guessed there. Raises
    Misused for a word that says none of it.
    """
    of_lines = [word for word in maps if document and (word == PROPOSED or LINES.fullmatch(word))]
    made = _given_by(before, [word for word in maps if word not in of_lines], units)
    if not document or not of_lines:
        return made
    known = places(document)
    asked = read_document(document, made.map()).asked()
    lines = {each.line: str(each.guess) for each in asked if each.guess} if PROPOSED in of_lines else {}
    for word in of_lines:
        found = LINES.fullmatch(word)
        if found and found[2].upper() not in (WAITS, *Verdict):
            raise _refused(word)
        if found:
            for line in _lines(found[1], word, {each.line for each in asked}, set(known)):
                lines[line] = found[2].upper()
    said = {known[line].key: verdict for line, verdict in lines.items() if line in known}
    made = Given(columns=made.columns, verdicts=made.verdicts, lines={**made.lines, **said}, units=made.units)
    made.map()
    return made


def _lines(numbers: str, word: str, asked: set[int], known: set[int]) -> Iterator[int]:
    """Yield the lines that `12, 15-18` names: of a range those `asked` about. Raises Misused for an unknown one."""
    for part in numbers.split(","):
        first, _, last = (each.strip() for each in part.partition("-"))
        found = {int(first)} if not last else {line for line in asked if int(first) <= line <= int(last)}
        if not found or not found <= known:
            raise Misused(
                "--map names a line that can hold no experiment",
                code="map-line-unknown",
                expected="the line of a heading, of an item of a list or of a row; a range takes the lines asked about",
                found=f"{word}: {part.strip()}",
                hint="expctl import FILE --dry-run lists the lines that are asked about",
            )
        yield from found


def _verdict(said: str) -> Verdict | None:
    return None if said == WAITS else Verdict(said)


def _given_by(before: Given, maps: Sequence[str], units: Sequence[str]) -> Given:
    columns, verdicts, directions = dict(before.columns), dict(before.verdicts), dict(before.units)
    for word in maps:
        left, equals, right = (part.strip() for part in word.rpartition("="))
        if right.upper() not in (WAITS, *Verdict):
            left, equals, right = (part.strip() for part in word.partition("="))
        if right.upper() in (WAITS, *Verdict) and equals and left:
            verdicts[left] = right.upper()
        elif left in list(Role) and right:
            columns[left] = right
        else:
            raise _refused(word)
    for word in units:
        left, _, right = (part.strip() for part in word.partition("="))
        directions[left] = right
    made = Given(columns=columns, verdicts=verdicts, lines=before.lines, units=directions)
    made.map()
    made.directions()
    return made


def _refused(word: str) -> Misused:
    return Misused(
        "--map says neither what a column holds nor what a word means",
        code="map-unclear",
        expected=f"ROLE=HEAD with a role of {', '.join(Role)}; WORDS=VERDICT, or line N=VERDICT, with"
        f" {', '.join(Verdict)} or {WAITS}; or {PROPOSED}",
        found=word,
        hint='expctl import FILE --dry-run --map verdict=Outcome --map "retained=KEEP"',
    )
