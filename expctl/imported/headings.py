"""Read the headings of a hand-kept ledger: which experiment each names, and whether it says what became of it."""

import dataclasses
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Section
from expctl.imported.emphasis import undashed, unmarked
from expctl.imported.outcomes import sure_outcome
from expctl.imported.rules import FORBIDS
from expctl.imported.verdicts import Dialect, opens_with_verdict, rulings
from expctl.imported.vocabulary import DECIDED, MARKS, MEANS, PATTERNS

# Headings of sections that tell a part of the experiment above them
PART = re.compile(
    r"\W*(?:key |main |final )?(?:results?|analysis|correctness"
    r"|validation|verification|measurements?|methodology|method|setup|summary|decision|verdict"
    r"|conclusions?|outcome|findings?|discussion|numbers|benchmarks?|evidence|implementation|changes?|hypothesis|rationale|notes?"
    r"|why .*|ergebnisse?|auswertung)\W*",
    re.IGNORECASE,
)
# `wider loads [REVERTED]`, `wider loads (rejected)`
BRACKETED = re.compile(r"[\[(]\s*([^\[\]()]{4,80}?)\s*[\])]\W*$")
# `Changes that paid (applied)` is the heading of several experiments.
GROUP = re.compile(
    r"\W*(?:all |some |other |more |the |key |main |previously )?(?:\w+ )?(?:changes|experiments|optimi[sz]ations|attempts"
    r"|ideas|approaches|wins|losses|candidates|things|tests|techniques|hypotheses|improvements|variants|items|what)\b",
    re.IGNORECASE,
)
# `killed misdirections` names something, `killed after two days` is a verdict.
OF_NOUN = re.compile(
    r"\W*$|\W*\s(?:by|in|for|as|on|with|and|because|it|this|only|behind|anyway|the|an?|its|all|both|after|at|since|due|to|from|until"
    r"|despite|again|so|here|later|earlier|now|default|\W)|\s*[,;:.(]",
    re.IGNORECASE,
)
# `wider loads (KEEP) ★ CURRENT BEST`, `wider loads (KEEP) [EXPLORE]`, and the same in Japanese brackets
ASIDE = re.compile(
    r"[\[(]\s*(KEEP|KEPT|REJECT(?:ED)?|DISCARD(?:ED)?|REVERT(?:ED)?)\s*[\])](?=\s*(?:[★☆⭐🏆]|\[[A-Z][A-Z -]*\]\W*$))"
)
WIDE = re.compile(r"（\s*([✅❌]?\s*(?:採用|不採用|却下|棄却)[^（）]*)）\W*$")
COMMAS = re.compile(r"\s*[,;(（，；：。]\s*|\s+and\s+")
# `all five REJECTED`, in the last part of a heading
CAPITAL_WORD = re.compile(r"(?<![\w-])(?:KEPT|LANDED|REJECTED|REVERTED|DISCARDED|ABANDONED|ACCEPTED|MERGED|ADOPTED)(?![\w-])")
NONE_OF = re.compile(r"\b(?:none|not|never|no|nor|nothing|neither|if|unless|until)\b", re.IGNORECASE)
# `What failed: a table of squares`
FAILED = re.compile(r"\W*what (?:also )?(?P<verdict>failed|landed):\s+(?P<title>(?!and\b|why\b).*\w.*)", re.IGNORECASE)
# `drop the warm-up` orders a change.
ORDERS = re.compile(
    r"\W*(?:[Kk]eep|[Dd]rop|[Rr]evert|[Dd]iscard|[Rr]emove|[Kk]ill|[Rr]eject|[Mm]erge|[Aa]pply|[Aa]dopt|[Ss]hip|[Rr]etain)\s+"
    r"(?!it\b|this\b)[a-z]"
)
# `E12 REJECTED at 3 ms, ...`
SHOUTED = re.compile(
    r"[\W_]*([A-Za-z][\w-]*\d[\w-]*|\d+)\W+(KEPT|LANDED|REJECTED|REVERTED|DISCARDED|ABANDONED|ACCEPTED|MERGED|INCONCLUSIVE|INVALID)\b",
    re.ASCII,
)
# `[2026-02-03] session | E12 REJECTED: ...`
STAMP = re.compile(r"\W*\d{4}-\d\d-\d\d\b[^|]{0,40}\|\s*")
# `2026-02-03 — E1 landed: ...`
DATE = re.compile(r"\W*\d{4}-\d\d-\d\d\b(?:\s*\([^()]*\))?\s*[:–—-]+\s*", re.ASCII)
# `2026-02-03 - rejected wider loads`
DATED_VERDICT = re.compile(rf"{DATE.pattern}(rejected|discarded|abandoned|accepted|retained) ([^;]*\w)", re.ASCII)
# `[MERGED 2026-02-03]`
DATE_IN = re.compile(r"(?<=[A-Z])\s+\d{4}-\d\d-\d\d(?=\s*\])")
# `E12 wider loads [status: rejected -> see E9]` and `E12 wider loads [ACCEPTED: ...]`
TAGGED = re.compile(r"[\[(]\s*(?:status|verdict|decision|outcome)\s*:\s*([^\])]+?)\s*(?=$|[\])(]|->|→|[,;]\s)", re.IGNORECASE)
CAPITALS = re.compile(r"\[\s*([A-Z][A-Z ]{3,20}[A-Z])\s*(?=[\]:;,–—])")
# `baseline looks bad` tells of the baseline.
LOOKS = re.compile(r"\W*baseline\s+\w", re.IGNORECASE)
# `removed the lock` tells a change, `Regression and its cause` names what the section is about.
TELLS_CHANGE = re.compile(
    r"\W*(?:removed|dropped|merged|applied|committed|landed|shipped)\s+(?:`|(?:the|an?|its|all|both|some|two|three|old|unused)\b)"
)
# `Error handling`, `Mixed-precision packing` and `Apply the patch` name what the section is about.
NOUNS = re.compile(
    r"regressions?|crash(?:es)?|errors?|timeouts?|mixed|neutral|tie|identical|unchanged|invalid|fail|dead", re.IGNORECASE
)
ORDER = re.compile(
    r"apply|adopt|ship|accept|keep|retain|merge|promote|drop|kill|revert|reject|discard|remove|do not \w+|don.?t \w+",
    re.IGNORECASE,
)
ENDED = re.compile(r"\W*$|\s*[,;:.(!]|\s+[-–—]")
# A record of a design decision is accepted without an experiment, and `Current best default (kept)` tells what is.
NO_CHANGE = re.compile(r"\W*(?:(?:ADR|RFC|MADR)\W?\d|[Cc]urrent (?:best|default|state|baseline)\b)", re.ASCII)
# `✅ Verification of the cost` tells of a test, `the lock is the limit, removed` of what became of the lock.
OF_TESTS = re.compile(r"\b(?:verification|validation|tests?|checks?)\W*$", re.IGNORECASE)
GONE = re.compile(r"\b(?:removed|dropped|removid[oa]s?)\b", re.IGNORECASE)
HEADINGS_MAX = 2
OUTCOMES_MIN = 2
TAIL_MAX = 400
# `P1 and P2 progress` tells of two.
SEVERAL = re.compile(r"\W*([A-Za-z]{1,6})-?\d+[a-z]?\s*(?:,|&|\+|and|und)\s*\1-?\d", re.ASCII)
DATED = re.compile(r"\s*\([^()]*\)\s*$")
NUMBERED = re.compile(r"\W*(?:experiment|exp|attempt|run|iteration|round|pass|step|trial)\W*(\d+[a-z]?)\b", re.IGNORECASE)
COUNTED = re.compile(r"\W*#?\d+[a-z]?(?:[.):]|\s+[-–—])\s")
KEPT_MARKS = "✓✔✅☑👍"
IDENTIFIED = re.compile(
    r"\W*(?<!-)(?:(?P<id>[A-Za-z]{1,6}-?\d+[a-z]?(?:-(?:[A-Z]\d*[a-z]?|\d{1,2}))?|#\d+)\b(?!\.\d)|`?(?P<hash>[0-9a-f]{7,40})\b`?)",
    re.ASCII,
)
# `FP16 sums` and `AArch64 loops` begin with no id, `EXP16: sums` does.
LONG_ID = re.compile(r"[A-Za-z]{2,}-?\d|[a-z]\d")
# `Depth2: wider loads` begins with the place of the change.
PLACE = re.compile(r"(?!exp|test|iter|idea|step|trial|run|try|opt|item|hyp)[a-z]{4,}-?\d", re.IGNORECASE)
SEPARATED = re.compile(r"\W*$|\s*[:.)\]–—|]|\s+-")
SPLIT = re.compile(r"\s+[-–—]+\s+|\s*[–—]\s*|:\s+|:\*\*\s*|\s*(?:→|->|=>)\s*|\.\s+(?=\W*[A-Z])")


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """What a heading says: the words of a verdict ("": none), what was tried, and the experiment's id ("": none). `verdict` is
    that of an outcome, None where the words state one.
    """

    words: str
    title: str
    name: str
    verdict: Verdict | None = None


def read_heading(heading: str, dialect: Dialect, *, marked: bool, outcomes: bool = False) -> Heading | None:
    """Return what `heading` says of one experiment; None for that of several, or of rules.

    `marked`: the document has headings that begin with `✅` and such that begin with `❌`, which then are verdicts; `outcomes`:
    it has such that end with `— BIG WIN`, and such that end with `— HARMFUL`.
    """
    text = DATE_IN.sub("", STAMP.sub("", heading, count=1))
    if NO_CHANGE.match(text) or MEANS.search(text):
        return None
    if failed := FAILED.fullmatch(text):
        title, name = title_and_name(failed["title"])
        return Heading(words=failed["verdict"], title=title, name=name)
    words = _at_end(text, dialect)
    bare = _without_verdict(text, dialect)
    if words and bare == text:
        bare = text[: text.rindex(words)]
    title, name = title_and_name(bare)
    if not title and (bracketed := _in_brackets(text)):
        return bracketed if bracketed.title and not FORBIDS.search(text) else None
    if not title or GROUP.match(title) or FORBIDS.search(text) or SEVERAL.match(text):
        return None
    number = NUMBERED.match(text)
    at_end = Heading(words=words, title=title, name=name or (number[1] if number else ""))
    found = _at_start(text, marked=marked) or _in_brackets(text) or at_end
    tail = next(filter(sure_outcome, tails(text)), "") if outcomes and not found.words else ""
    if tail:
        title, name = title_and_name(text[: text.rindex(tail)].rstrip(" ([-–—:"))
        return Heading(words=tail, title=title, name=name, verdict=sure_outcome(tail))
    return found


def marks_are_verdicts(sections: Sequence[Section]) -> bool:
    """Return whether some headings begin with `✅` and others with `❌`."""
    marks = {mark for section in sections for mark in MARKS.findall(section.title[:1])}
    return bool(marks & set(KEPT_MARKS)) and bool(marks - set(KEPT_MARKS))


def tails(title: str) -> list[str]:
    """Return the parts of a heading, or of the bold part of an item, where a verdict may stand: at its end, and in brackets."""
    title = title[-TAIL_MAX:]
    bracket = BRACKETED.search(title)
    parts = [part for part in SPLIT.split(title) if part.strip()]
    found = [bracket[1]] if bracket else []
    return [*found, *([parts[-1]] if len(parts) > 1 else [])]


def outcomes_are_verdicts(sections: Sequence[Section]) -> bool:
    """Return whether headings end with outcomes of both kinds, `— BIG WIN` and `— HARMFUL`, or a verdict for one of them."""
    ends = [tail for section in sections for tail in tails(section.title)]
    seen = [verdict for tail in ends if (verdict := sure_outcome(tail))]
    decided = [verdict for tail in ends if DECIDED.search(tail) and (verdict := opens_with_verdict(tail))]
    return len(seen) >= OUTCOMES_MIN and {Verdict.KEEP, Verdict.REJECT} <= {*seen, *decided}


def _at_start(heading: str, *, marked: bool) -> Heading | None:
    """Return what `Kept: wider loads`, `E12 REJECTED at 3 ms` or `❌ wider loads` says."""
    undated = DATE.sub("", heading, count=1)
    parts = [part for part in SPLIT.split(undated) if part.strip()] or [heading]
    first = parts[0].strip("*_ []")
    if len(parts) > 1 and DECIDED.fullmatch(first) and first[0].isupper() and (first.isupper() or not ORDER.fullmatch(first)):
        rest = undated[undated.index(parts[0]) + len(parts[0]) :].lstrip(" :-–—*_]")
        title, name = title_and_name(rest)
        return Heading(words=parts[0], title=title, name=name)
    if dated := DATED_VERDICT.fullmatch(heading):
        title, name = title_and_name(dated[2])
        return Heading(words=dated[1], title=title, name=name)
    if shouted := SHOUTED.match(heading):
        return Heading(words=shouted[2], title=heading[shouted.end() :].strip(" :-–—*_"), name=shouted[1])
    if marked and MARKS.match(heading) and not OF_TESTS.search(heading):
        title, name = title_and_name(heading[1:].lstrip("\ufe0f "))
        return Heading(words=heading[0], title=title, name=name)
    return None


def _in_brackets(heading: str) -> Heading | None:
    """Return what `wider loads [status: rejected -> E9]`, `... [ACCEPTED: -3 %]` or `... (neutral, reverted)` says."""
    tagged = TAGGED.search(heading)
    shouted = CAPITALS.search(heading)
    bracketed = BRACKETED.search(heading)
    found = tagged
    if not found and shouted and DECIDED.fullmatch(shouted[1]):
        found = shouted
    if not found and bracketed and any(map(_is_decided, COMMAS.split(GONE.sub("", bracketed[1])))):
        found = bracketed
    wide = WIDE.search(heading)
    found = found or ASIDE.search(heading) or (wide if wide and not MARKS.search(heading[: wide.start()]) else None)
    if not found:
        return None
    title, name = title_and_name(heading[: found.start()])
    return Heading(words=found[1], title=title, name=name)


def _is_decided(part: str) -> bool:
    word = DECIDED.match(part)
    return bool(word and OF_NOUN.match(part[word.end() :]) and part[word.end() :].strip() != "only")


def _at_end(heading: str, dialect: Dialect) -> str:
    """Return the words of the verdict that ends `heading`, such as `wider loads - neutral, reverted`; "" without one."""
    parts = [part for part in SPLIT.split(heading) if part.strip()]
    tail = DATED.sub("", parts[-1]) if len(parts) > 1 else ""
    decided = any(map(DECIDED.fullmatch, COMMAS.split(tail.strip("*_ ")))) and isinstance(rulings(tail, dialect), tuple)
    if (
        (GONE.search(tail) and len(DECIDED.findall(tail)) == 1)
        or tail.lower().startswith("no change")
        or ORDERS.match(tail)
        or TELLS_CHANGE.match(tail)
        or not _ends_phrase(tail)
    ):
        return ""
    told = opens_with_verdict(tail, dialect) and not LOOKS.match(tail)
    capitals = set(CAPITAL_WORD.findall(tail)) if not NONE_OF.search(tail) and isinstance(rulings(tail, dialect), tuple) else ()
    return tail if decided or told or len(capitals) == 1 or DECIDED.match(tail.strip("*_ ")) else ""


def _ends_phrase(tail: str) -> bool:
    """Return whether the word of a verdict that `tail` begins with is one: what follows doesn't make it name something else."""
    words = [found for _, pattern in PATTERNS if (found := pattern.search(tail))]
    word = min(words, key=lambda found: (found.start(), -found.end()), default=None)
    if word is None or (word[0].isupper() and not NOUNS.fullmatch(word[0])):
        return True
    rest = tail[word.end() :]
    if NOUNS.fullmatch(word[0]) or ORDER.fullmatch(word[0]):
        return bool(ENDED.match(rest))
    return bool(OF_NOUN.match(rest))


def experiments_of(sections: Sequence[Section]) -> list[Section]:
    """Return the sections, each with the lines of those below it that only tell a part of it (`Results`, `Analysis`).

    A heading that goes on in a second one is joined with it. More of them in lines that follow each other are running text in
    large letters, and are left out.
    """
    made: list[Section] = []
    for whole in filter(None, map(_joined_headings, _runs(sections))):
        parent = next((at for at in reversed(range(len(made))) if made[at].title == whole.under), None)
        if whole.under and parent is not None and PART.fullmatch(whole.title):
            made[parent] = dataclasses.replace(made[parent], lines=(*made[parent].lines, *whole.lines))
        else:
            made.append(whole)
    return made


def _runs(sections: Sequence[Section]) -> Iterator[list[Section]]:
    """Yield the sections, those together whose headings have the same level and follow each other without a line between."""
    run: list[Section] = []
    for section in sections:
        if run and not (section.line == run[-1].line + 1 and section.under == run[-1].under):
            yield run
            run = []
        run.append(section)
    if run:
        yield run


def _joined_headings(run: Sequence[Section]) -> Section | None:
    if len(run) > HEADINGS_MAX:
        return None
    return dataclasses.replace(run[-1], line=run[0].line, title=" ".join(each.title for each in run), under=run[0].under)


def _without_verdict(heading: str, dialect: Dialect) -> str:
    """Return a heading without the part at its end that is the verdict, or a date after it."""
    bare = DATED.sub("", heading)
    parts = [found for found in SPLIT.finditer(bare) if opens_with_verdict(bare[found.end() :], dialect)]
    return bare[: parts[-1].start()] if parts and bare[: parts[-1].start()].strip() else heading


def title_and_name(text: str) -> tuple[str, str]:
    """Split `**E3**: hoist constants` into (`hoist constants`, `E3`), `1abc234 wider loads` likewise."""
    bare = unmarked(text)
    found = IDENTIFIED.match(bare)
    long = found and found["id"] and LONG_ID.match(found["id"]) and not SEPARATED.match(bare, found.end())
    place = found and found["id"] and PLACE.match(found["id"])
    digits = found and (found["id"] or re.search(r"\d", found["hash"]))
    if not found or long or place or not digits:
        return undashed(bare), ""
    return undashed(bare[found.end() :].lstrip("-`:.")).strip(" `:."), found["id"] or found["hash"]
