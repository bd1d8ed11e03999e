"""Weigh whether a line that may be an experiment says its verdict as surely as one that is read without a question.

Only such a verdict is proposed; all else is asked without an answer.
"""

import re
from collections.abc import Iterable, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.groups import NOT_KEPT, NOT_REJECTED, rules_row, ruling_of_items
from expctl.imported.outcomes import seen_in
from expctl.imported.verdicts import Pending, opens_with_verdict, rulings
from expctl.imported.vocabulary import CLAUSE, DECIDED, MEANS, is_hedged

TEXT_MAX = 4000
SHORT = 60
BOTH = {Verdict.KEEP, Verdict.REJECT}
THING = r"change|experiment|patch|attempt|candidate|approach|optimi[sz]ation|idea|variant|prototype|commit|tweak|rewrite"
# `The change was reverted`, `It was kept`, `Reverted.`, `so it was dropped`
DECISION = re.compile(
    r"(?:^|[.;:!]\s+|\b(?P<led>so|and|then|therefore)\s+)[\W_]*"
    rf"(?P<thing>(?:(?:the|this|that|both|all)\s+(?:whole\s+|entire\s+)?(?:{THING})s?|it|this)\s+"
    r"(?:was|were|is|has been|have been|got)\s+"
    r"(?:(?:then|therefore|thus|also|finally|fully)\s+)?)?"
    r"(?P<word>(?:not )?(?:kept|retained|merged|landed|adopted|shipped)|reverted|rejected|discarded|abandoned|dropped"
    r"|rolled back|backed out|scrapped)"
    r"(?P<rest>[^.;]{0,40})",
    re.IGNORECASE,
)
# What may stand behind the word of a sentence without a subject; `Reverted the cache` is of the cache.
ALONE = re.compile(r"\W*$|\W*[.;:,!)—–-]|\s+(?:because|since|as|after|due|before|in|on|for|and)\b", re.IGNORECASE)


def decided_in(text: str) -> set[Verdict]:
    """Return the verdicts that sentences of `text` state of the change itself: `The change was reverted.`"""
    found: set[Verdict] = set()
    for said in DECISION.finditer(text[:TEXT_MAX].replace("*", "").replace("\n", " ")):
        hedged = is_hedged(f"\0{said['rest']}")
        verdict = opens_with_verdict(said["word"])
        led = (said["led"] or "").lower()
        # `and shipped as an option`, `the user tried it and reverted`
        part = led and not said["thing"] and (verdict is not Verdict.REJECT or led == "and")
        if verdict and not part and not hedged and ALONE.match(said["rest"]):
            found.add(verdict)
    return found


def sure_of_text(title: str, texts: Iterable[str], ruled: Verdict | None) -> Verdict | None:
    """Return the verdict of a heading or an item `title` with `texts`: what it says of itself, or what `ruled` it from above.

    None where two are told, or a word stands against it.
    """
    told = [text[:TEXT_MAX] for text in texts]
    found = set[Verdict]().union(*map(decided_in, told))
    found |= {ruled} if ruled else set()
    found |= {own} if (own := ruling_of_items(title)) and (found or own is Verdict.REJECT) and found - {own} else set()
    if len(found) != 1:
        return None
    (verdict,) = found
    return None if any(_is_against(verdict, text) for text in (title, *told)) else verdict


def sure_of_row(cells: Sequence[str], of_change: int, ruled: Verdict | None) -> Verdict | None:
    """Return the verdict of a row of a table: what a short cell beside that of the change decides, or what `ruled` it."""
    short = [cell for at, cell in enumerate(cells) if at != of_change and len(cell) <= SHORT]
    told = (cell for at, cell in enumerate(cells) if at != of_change and any(map(_decides, _clauses(cell))))
    made = [rulings(cell) for cell in told]
    found = {each.verdict for told in made for each in (told if isinstance(told, tuple) else ())}
    found |= {ruled} if ruled else set()
    waits = any(isinstance(rulings(cell), Pending) for cell in short)
    if len(found) != 1 or waits or None in made or (ruled and not rules_row(ruled, cells)):
        return None
    (verdict,) = found
    return None if any(Verdict.INVALID in seen_in(cell) and verdict is not Verdict.INVALID for cell in cells) else verdict


def _is_against(verdict: Verdict, text: str) -> bool:
    other = NOT_KEPT if verdict is Verdict.KEEP else NOT_REJECTED
    return verdict in BOTH and (other.search(text) is not None or MEANS.search(text) is not None)


def _decides(clause: str) -> bool:
    word = DECIDED.match(clause)
    return word is not None and ALONE.match(clause[word.end() :]) is not None


def _clauses(cell: str) -> list[str]:
    return [clause.strip() for clause in CLAUSE.split(cell.replace("*", ""))]
