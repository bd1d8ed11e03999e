"""What a user says about a hand-kept ledger where its words aren't sure: columns, words of verdicts, directions of units."""

from collections.abc import Sequence

from msgspec import Struct

from expctl.domain.errors import Misused
from expctl.domain.experiment.proposal import Verdict
from expctl.imported.columns import Map
from expctl.imported.heads import Role
from expctl.imported.units import Better, name_of

SUFFIX = ".import.yaml"
WAITS = "WAIT"


class Given(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`columns` are heads by role (id, verdict, change, result, reason, date), `verdicts` verdicts by words (WAIT: none
    yet), `units` higher or lower by unit or column head, e.g. tok_s. It is kept in a file beside the ledger.
    """

    columns: dict[str, str] = {}
    verdicts: dict[str, str] = {}
    units: dict[str, str] = {}

    def map(self) -> Map:
        """Return heads by role, and verdicts by words in small letters. Raises Misused for a name that is neither."""
        for role in self.columns:
            if role not in list(Role):
                raise _refused(f"{role}={self.columns[role]}")
        for words, verdict in self.verdicts.items():
            if verdict not in (WAITS, *Verdict):
                raise _refused(f"{words}={verdict}")
        return Map(
            heads={Role(role): head for role, head in self.columns.items()},
            meanings={
                " ".join(words.lower().split()): None if verdict == WAITS else Verdict(verdict)
                for words, verdict in self.verdicts.items()
            },
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


def given_by(before: Given, maps: Sequence[str], units: Sequence[str]) -> Given:
    """Return `before` with what the options say: `verdict=Outcome` names a column, `retained=KEEP` a verdict, `tok_s=higher`
    what is better. Raises Misused for a word that says none of it.
    """
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
    made = Given(columns=columns, verdicts=verdicts, units=directions)
    made.map()
    made.directions()
    return made


def _refused(word: str) -> Misused:
    return Misused(
        "--map says neither what a column holds nor what a word means",
        code="map-unclear",
        expected=f"ROLE=HEAD with a role of {', '.join(Role)}; or WORDS=VERDICT with {', '.join(Verdict)} or {WAITS}",
        found=word,
        hint='expctl import FILE --dry-run --map verdict=Outcome --map "retained=KEEP"',
    )
