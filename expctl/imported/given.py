"""What a user says about a hand-kept ledger where its words aren't sure: columns, words of verdicts, directions of units."""

import re
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from expctl.domain.errors import Misused
from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Document, Ruling
from expctl.imported.heads import Role
from expctl.imported.places import places
from expctl.imported.rows import read_document
from expctl.imported.units import RATE, Better, name_of, unit_of_head
from expctl.imported.verdict_columns import Map, plain_head
from expctl.imported.verdicts import first_clause, said_as

SUFFIX = ".import.yaml"
WAITS = "WAIT"
PROPOSED = "proposed"
# `line 12=KEEP`, `lines 12, 15-18=REJECT`
RANGE_SHOWN = 12
RATES = re.compile(rf"(?<![\w/]){RATE}(?![\w/])")
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
    Misused for a word that says none of it, or says it of nothing in `document`.
    """
    of_lines = [word for word in maps if document and (word == PROPOSED or LINES.fullmatch(word))]
    of_words = [word for word in maps if word not in of_lines]
    if document and (unfit := [word for word in units if not fits(word.partition("=")[0].strip(), document)]):
        raise Misused(
            "--unit names a unit that no figure and no column has",
            code="unit-idle",
            expected="the head of a column, or a unit that stands behind figures, as the ledger writes it",
            found=", ".join(unfit),
            hint="leave it out, or copy the head: expctl import FILE --dry-run --unit tok_s=higher",
        )
    made = _given_by(before, of_words, units)
    if document and (idle := list(_idle(made, of_words, document))):
        raise _idle_map(
            ", ".join(idle),
            "the head of a column; or words of a verdict column, or with which a part of a heading or an item begins,"
            " or (three at least) in the text of one",
        )
    if not document or not of_lines:
        return made
    known = places(document)
    reading = read_document(document, made.map())
    asked = reading.asked()
    settled = (
        {row.line for row in reading.rows} | {each.line for each in reading.waiting} | {each.line for each in reading.again}
    )
    free = {line: place.kind for line, place in known.items() if line not in settled}
    lines = {each.line: str(each.guess) for each in asked if each.guess} if PROPOSED in of_lines else {}
    if PROPOSED in of_lines and not lines and not made.lines:
        raise _idle_map(PROPOSED, "a verdict that --dry-run proposes: a line of it says --map with a verdict")
    for word in of_lines:
        found = LINES.fullmatch(word)
        if found and found[2].upper() not in (WAITS, *Verdict):
            raise _refused(word)
        if found:
            for line in _lines(found[1], word, {each.line for each in asked}, set(known), free):
                lines[line] = found[2].upper()
    said = {known[line].key: verdict for line, verdict in lines.items() if line in known}
    made = Given(columns=made.columns, verdicts=made.verdicts, lines={**made.lines, **said}, units=made.units)
    made.map()
    return made


def _idle_map(found: str, expected: str) -> Misused:
    return Misused(
        "--map says something of no line",
        code="map-idle",
        expected=expected,
        found=found,
        hint='leave it out; --map "line N=VERDICT" says what a single line is, expctl import FILE --dry-run lists them',
    )


def _idle(given: Given, maps: Sequence[str], document: Document) -> Iterator[str]:
    """Yield those of `maps` that decide nothing: no table has the head, or all is read alike whatever the words mean."""
    heads = {plain_head(head) for table in document.tables for head in table.heads}
    said = Given(columns=given.columns, verdicts=given.verdicts)
    rulings: set[tuple[int, Ruling]] = set()
    for word in maps:
        left, right = _parts(word)
        if right.upper() not in (WAITS, *Verdict):
            if plain_head(right) not in heads:
                yield word
            continue
        rulings = rulings or _rulings(said, document)
        words = said_as(left)
        if any(words in (said_as(each.words), said_as(first_clause(each.words))) for _, each in rulings):
            continue
        other = Verdict.KEEP if right.upper() == Verdict.REJECT else Verdict.REJECT
        if rulings == _rulings(Given(columns=given.columns, verdicts={**given.verdicts, left: other}), document):
            yield word


def _rulings(given: Given, document: Document) -> set[tuple[int, Ruling]]:
    return {(row.line, ruling) for row in read_document(document, given.map()).rows for ruling in row.rulings}


def ranges_of(maps: Sequence[str], given: Given, document: Document) -> Iterator[str]:
    """Yield for each range of lines in `maps` how many it took, and which that can hold an experiment it did not."""
    for word in maps:
        found = LINES.fullmatch(word)
        for part in found[1].split(",") if found else ():
            first, _, last = (each.strip() for each in part.partition("-"))
            inside = [each for each in places(document).values() if last and int(first) <= each.line <= int(last)]
            left = [str(each.line) for each in inside if each.key not in given.lines]
            if inside:
                more = f" and {len(left) - RANGE_SHOWN} more" if len(left) > RANGE_SHOWN else ""
                others = f"; not line {', '.join(left[:RANGE_SHOWN])}{more}" if left else ""
                yield f"lines {first}-{last}: {len(inside) - len(left)} taken{others}"


def fits(unit: str, document: Document) -> bool:
    """Return whether a column of `document` has the head `unit`, or a figure the unit."""
    name = name_of(unit)
    heads = (head for table in document.tables for head in table.heads)
    if not name or any(name in (name_of(head), name_of(unit_of_head(head, {}))) for head in heads):
        return bool(name)
    behind = re.compile(rf"\d\s?[kMG]?\s?{re.escape(unit)}(?![\w/])", re.IGNORECASE)
    texts = [
        *(line.text for line in document.lines()),
        *(cell for table in document.tables for row in table.rows for cell in row.cells),
    ]
    return any(behind.search(text) or any(name_of(each[0]) == name for each in RATES.finditer(text)) for text in texts)


def _lines(numbers: str, word: str, asked: set[int], known: set[int], free: Mapping[int, object]) -> Iterator[int]:
    """Yield the lines that `12, 15-18` names: of a range those `asked` about, and where both ends are items of one list or
    rows of one table, all between them that are `free`. Raises Misused for an unknown one.
    """
    for part in numbers.split(","):
        first, _, last = (each.strip() for each in part.partition("-"))
        found = {int(first)} if not last else {line for line in asked if int(first) <= line <= int(last)}
        if last and (kind := free.get(int(first))) and kind == free.get(int(last)):
            found |= {line for line, other in free.items() if int(first) <= line <= int(last) and other == kind}
        if not found or not found <= known:
            raise Misused(
                "--map names a range without a line that is asked about"
                if last
                else "--map names a line that can hold no experiment",
                code="map-line-unknown",
                expected="the line of a heading, of an item of a list or of a row; a range takes the lines asked about, or from"
                " an item (a row) to another one of its list (its table)",
                found=f"{word}: {part.strip()}",
                hint="expctl import FILE --dry-run lists the lines that are asked about; those that are read are corrected one"
                ' by one: --map "lines 58,59,60=VERDICT"',
            )
        yield from found


def _verdict(said: str) -> Verdict | None:
    return None if said == WAITS else Verdict(said)


def _given_by(before: Given, maps: Sequence[str], units: Sequence[str]) -> Given:
    columns, verdicts, directions = dict(before.columns), dict(before.verdicts), dict(before.units)
    for word in maps:
        left, right = _parts(word)
        if right.upper() in (WAITS, *Verdict) and left:
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


def _parts(word: str) -> tuple[str, str]:
    """Return what stands before and behind the `=` of a map: the last one before a verdict, else the first."""
    left, equals, right = (part.strip() for part in word.rpartition("="))
    if not equals or right.upper() not in (WAITS, *Verdict):
        left, _, right = (part.strip() for part in word.partition("="))
    return left, right


def _refused(word: str) -> Misused:
    return Misused(
        "--map says neither what a column holds nor what a word means",
        code="map-unclear",
        expected=f"ROLE=HEAD with a role of {', '.join(Role)}; WORDS=VERDICT, or line N=VERDICT, with"
        f" {', '.join(Verdict)} or {WAITS}; or {PROPOSED}",
        found=word,
        hint='expctl import FILE --dry-run --map verdict=Outcome --map "retained=KEEP"',
    )
