"""Find tables whose heading says what became of all their experiments, e.g. `Rejected experiments`."""

import dataclasses
import re
from collections.abc import Iterable, Mapping, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.bullets import ALONE, DID
from expctl.imported.document import Table
from expctl.imported.headings import SPLIT, tails
from expctl.imported.outcomes import seen_in
from expctl.imported.verdict_columns import NO_WORD
from expctl.imported.verdicts import opens_with_verdict, said_as
from expctl.imported.vocabulary import DECIDED, MARKS

HEAD = "verdict"
SHORT = 60
NOTHING_SAID: Mapping[str, Verdict | None] = {}
DONE = (
    "accepted|adopted|kept|retained|landed|shipped|merged|rejected|reverted|discarded|abandoned|dropped|failed|eliminated|refuted"
    "|disproved|ruled[- ]out|unsuccessful|aceit[oa]s?|mantid[oa]s?|rejeitad[oa]s?|descartad[oa]s?|revertid[oa]s?|aceptad[oa]s?"
    "|rechazad[oa]s?|adopté(?:e?s)?|rejeté(?:e?s)?|abandonné(?:e?s)?|採用|不採用|却下|棄却|已采纳|已放弃"
)
THINGS = (
    "changes|experiments|optimi[sz]ations|attempts|ideas|approaches|candidates|hypotheses|variants|techniques|kernels|levers"
    "|improvements|wins|speed-?ups|tweaks|fixes"
)
# What can only be several: `Rejected: kernel variants`
SEVERAL = "variants|alternatives|ideas|options|attempts|approaches|experiments|candidates|hypotheses|tweaks"
# `Rejected decode changes`, `Kept ideas and what they taught us`, `Rejected`, `Rejected in this round`
BEFORE = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:(?:current(?:ly)?|all|other|more|the|our|main|notable|key|explicitly|already) )?"
    rf"(?:\w+ and )?(?P<verdict>{DONE})"
    rf"(?::(?: [\w/-]+){{0,3}} (?:{SEVERAL})\W*"
    rf"| (?:\w+ )?(?:{THINGS})\b.*|(?:,? (?:in|on|by|for|after|with|em|por|en|par) .*)?\W*)",
    re.IGNORECASE,
)
# `Don't-try list`
BARRED = re.compile(
    r"\W*(?:the )?do(?:[- ]not|n.?t)[- ](?:re-?)?(?:try|peat|run|visit)(?:[- ]again)?[- ]list\W*", re.IGNORECASE
)
# `Experiments that were rejected`, `What we tried and reverted`
AFTER = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:{THINGS}|what)\b(?: (?:that|which|we|was|were|tried|tested|measured|and|then|got))*"
    rf" (?P<verdict>{DONE})\W*",
    re.IGNORECASE,
)
# `Changes that helped (applied)`
APPLIED = re.compile(rf"\W*(?:{THINGS})\b[^()]*\((?:all )?(?P<verdict>applied|{DONE})\)\W*", re.IGNORECASE)
# `Notable discards`
NOUNS = re.compile(r"\W*(?:\w+ ){0,3}(?P<verdict>discard|reject|revert)(?:s|ions|als)\W*", re.IGNORECASE)
# `Dead ends`, `Negative results`
ENDS = re.compile(
    r"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:\w+ )?"
    r"(?P<verdict>dead[- ]ends?|negative results|non-?starters|eliminations|no-gos)"
    r"(?:,? and why|(?: (?:in|on|by|for|from) .*)?)\W*",
    re.IGNORECASE,
)
# Heads of what was changed, below such headings alone
GAINED = frozenset(("fix", "improvement", "win", "speedup", "tweak"))
# `What didn't work`, `Ideas that failed, and why`
GIVEN_UP = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:what|things|{THINGS})(?: (?:that|which|we|i|have|been|was|were|tried|but|and))*"
    r" (?P<verdict>failed|(?:did(?:n.?t| not)|does(?:n.?t| not)) (?:work|help|pay(?: off)?))(?:,? and why)?\W*",
    re.IGNORECASE,
)
WORKED = re.compile(
    rf"\W*(?:\d+(?:\.\d+)*[.):]?\s+)?(?:what|things|{THINGS})(?: (?:that|which))? (?:worked|helped|paid off)\W*", re.IGNORECASE
)
# `Demodulators (what worked)`
IN_BRACKETS = re.compile(r"\(((?:what|things)\b[^()]*)\)\W*$", re.IGNORECASE)
BRACKETS = re.compile(r"\s*\([^()]*\)")
BOTH = re.compile(rf"\b(?:{DONE})\b", re.IGNORECASE)
MEASURED_SHARE = 1 / 3
# `Successful experiments` were kept where another heading says that others were not.
SUCCESS = re.compile(rf"\W*(?P<verdict>successful|winning) (?:\w+ )?(?:{THINGS})\W*", re.IGNORECASE)
MEANINGS = {
    **dict.fromkeys(("successful", "winning"), Verdict.KEEP),
    **dict.fromkeys(("eliminated", "refuted", "disproved", "ruled out", "unsuccessful"), Verdict.REJECT),
}
# What an item says that is of no KEEP, or of no REJECT
NOT_KEPT = re.compile(
    r"\b(?:neutral|reverted|rejected|discarded|abandoned|removed again|inconclusive|marginal|negligible"
    r"|no (?:\w+ )?(?:gain|improvement|difference|change|benefit|effect|speed-?up)|within (?:the )?noise|slower|disabled)\b",
    re.IGNORECASE,
)
NOT_REJECTED = re.compile(
    r"\b(?:(?:was|is|were|are|now|later|eventually|finally) (?:kept|landed|merged|shipped|accepted|adopted|enabled|the default)"
    r"|inconclusive|partial(?:ly)?|still (?:used|in use|running)|not (?:yet )?(?:tried|tested|attempted|implemented)|untested"
    r"|untried|deferred|blocked|não (?:tentad|testad)[oa]s?|no probad[oa]s?)\b",
    re.IGNORECASE,
)


def ruled_by_heading(
    table: Table,
    tried: frozenset[str],
    measured: re.Pattern[str],
    others: Iterable[str] = (),
    meanings: Mapping[str, Verdict | None] = NOTHING_SAID,
) -> Table | None:
    """Return `table` with a column of the verdict that its heading gives to all rows; None where the heading gives none.

    The words of the verdict may be such as MEANINGS explains, or a heading of which the user said in `meanings` what it means.
    `others` are all headings of the document.

    Without the user's words only a table with a head of `tried` (such as `experiment`) is one of experiments, and only where a
    third of its rows has a figure, which `measured` finds, or a decision. A row that itself tells of another decision gets no
    word, nor a rejected one that may have been left undecided.
    """
    if said_as(table.section) in meanings:
        rows = tuple(dataclasses.replace(row, cells=(*row.cells, table.section)) for row in table.rows)
        return dataclasses.replace(table, heads=(*table.heads, HEAD), rows=rows)
    found = ruling_of(table.section)
    success = SUCCESS.fullmatch(table.section)
    given = (opens_with_verdict(each["verdict"]) for each in map(ruling_of, others) if each)
    if success and Verdict.REJECT in given:
        found = success
    words = found["verdict"].lower() if found else ""
    verdict = verdict_of(words)
    told = sum(any(measured.search(cell) or _decision(cell) for cell in row.cells) for row in table.rows)
    if verdict is None or len(set(BOTH.findall(table.section.lower()))) > 1 or told < MEASURED_SHARE * len(table.rows):
        return None
    if not any(" ".join(head.lower().split()) in tried | GAINED for head in table.heads):
        return None
    made = (words if rules_row(verdict, row.cells) else NO_WORD for row in table.rows)
    rows = tuple(dataclasses.replace(row, cells=(*row.cells, word)) for row, word in zip(table.rows, made, strict=True))
    return dataclasses.replace(table, heads=(*table.heads, HEAD), rows=rows)


def rules_row(verdict: Verdict, cells: Sequence[str]) -> bool:
    """Return whether nothing in a row contradicts the `verdict` of the heading above it, and no short cell makes a REJECT
    doubtful.
    """
    against = {Verdict.KEEP, Verdict.REJECT} - {verdict}
    short = [cell for cell in cells if verdict is Verdict.REJECT and len(cell) <= SHORT]
    doubtful = any(NOT_REJECTED.search(cell) or Verdict.NO_OP in seen_in(cell) for cell in short)
    decided = {_decision(cell) for cell in cells}
    return (not doubtful or verdict in decided) and not decided & against


def ruling_of(heading: str) -> re.Match[str] | None:
    """Return what a heading such as `Rejected experiments` gives to all below it, as the group `verdict`; None for others."""
    title = BRACKETS.sub("", heading).strip()
    return BEFORE.fullmatch(title) or AFTER.fullmatch(title) or APPLIED.fullmatch(heading) or NOUNS.fullmatch(title)


def of_several(heading: str) -> bool:
    """Return whether a heading that begins with a verdict is that of several experiments, e.g. `Rejected: kernel variants`."""
    found = BEFORE.fullmatch(heading)
    return found is not None and heading[found.end("verdict") :].startswith(":")


def ruled_sections(above: Mapping[str, str]) -> dict[str, str]:
    """Return the words that headings such as `Failed experiments` give to all sections below them, by heading. `above` gives
    for each heading the one it stands below.

    `Kept experiments` and `What worked` give one only where another heading says that others failed; headings in other words
    (`Wins of session 2`, `More dead ends`) only where such of both kinds stand beside each other.
    """
    found = {title: _of_sections(title) for title in above}
    failed = any(verdict_of(words) is Verdict.REJECT for words in found.values())
    ruled = {title: words for title, words in found.items() if words and (failed or verdict_of(words) is Verdict.REJECT)}
    several = (title for title in above if not ELSE.search(title) and not of_one(title))
    stems = {title: verdict for title in several if (verdict := ruling_of_items(title))}
    beside: dict[str, set[Verdict | None]] = {}
    for title, verdict in (*stems.items(), *((title, verdict_of(words)) for title, words in ruled.items())):
        beside.setdefault(above[title], set()).add(verdict)
    said = {Verdict.KEEP: "successful", Verdict.REJECT: "unsuccessful"}
    both = {title: said[verdict] for title, verdict in stems.items() if {*said} <= beside[above[title]]}
    return both | ruled


def of_one(title: str) -> bool:
    """Return whether a heading ends with what became of one change, e.g. `wider loads — ✅ faster`."""
    return any(MARKS.search(tail) or DECIDED.match(tail.strip("*_ ")) for tail in tails(title))


def verdict_of(words: str) -> Verdict | None:
    """Return the verdict of the words of a heading that rules all below it."""
    return opens_with_verdict(words) or MEANINGS.get(words)


# A heading of a plan, of rules, or of one experiment gives no verdict to what stands below it.
ELSE = re.compile(
    r"\?|\b(?:if|when|how|why|to|would|should|criteria|rules?|gates?|polic(?:y|ies)|lessons?|patterns?|insights?|summary|overview"
    r"|next|todo|plan(?:ned)?|candidates?|potential|remaining|future|handling|tests?|errors?|runs?|modes?|cases?|baseline|features?"
    r"|stack|config\w*|frontier|launched|trajectory|live)\b|\w\W+(?:\w+\W+){8}\w",
    re.IGNORECASE,
)
# Stems with which a heading rules all below it. What this finds is a guess.
GAVE_UP = re.compile(
    r"\b(?:reject|revert|discard|abandon|drop(?:ped)?\b|fail|unsuccessful|negative results?|dead[- ]ends?|eliminat|ruled out"
    r"|refut|disprov|dead(?=\W*$)|lost\b|losers?\b|no[- ]gos?\b|non-?starters?|not worth|harmful|backed out|rolled back)"
    r"|\b(?:did|does|do)(?:n.?t| not) (?:work|help|pay|pan)|not (?:to )?(?:work|help|pay|keep)|失败|放弃|无效",
    re.IGNORECASE,
)
TOOK = re.compile(
    r"\b(?:kept|accepted|adopted|landed|shipped|merged|applied|successful|successes|what (?:worked|helped|paid)"
    r"|that (?:worked|helped|paid)|wins\b|winners?\b"
    r"|(?:implemented|completed) (?:optimi[sz]ations|experiments|changes|ideas))|^\W*worked\W*$|有效|成功",
    re.IGNORECASE,
)


def ruling_of_items(heading: str) -> Verdict | None:
    """Return the verdict that a heading such as `Dead ends` or `Decoder (what worked)` lets one guess for all below it."""
    found = {verdict for verdict, stems in ((Verdict.REJECT, GAVE_UP), (Verdict.KEEP, TOOK)) if stems.search(heading)}
    return found.pop() if len(found) == 1 else None


def _of_sections(heading: str) -> str:
    title = BRACKETS.sub("", heading).strip()
    if said := IN_BRACKETS.search(heading):
        return "failed" if GIVEN_UP.fullmatch(said[1]) else "successful" if WORKED.fullmatch(said[1]) else ""
    if len(set(BOTH.findall(title.lower()))) > 1 and not re.search(r"failed|rejected", title, re.IGNORECASE):
        return ""
    if WORKED.fullmatch(title):
        return "successful"
    # `Dead ends — approaches that were tried`
    if any(form.fullmatch(each) for each in (title, SPLIT.split(title)[0]) for form in (GIVEN_UP, ENDS, BARRED)):
        return "failed"
    found = SUCCESS.fullmatch(title) or ruling_of(heading)
    return found["verdict"].lower() if found else ""


def _decision(cell: str) -> Verdict | None:
    """Return the verdict that begins a cell; None where the word tells the change, as in `Removed the lock`."""
    did = DID.match(cell)
    return None if did and not ALONE.match(cell[did.end() :]) else opens_with_verdict(cell)
