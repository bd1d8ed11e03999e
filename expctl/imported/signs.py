"""The signs by which a title, an item or a section shows that it may tell of an experiment, or of something else."""

import re
from collections.abc import Iterable

from expctl.imported.bullets import LABEL
from expctl.imported.document import Document, Section
from expctl.imported.fields import tells_one
from expctl.imported.headings import PART, tails
from expctl.imported.items import outside_fences, parted
from expctl.imported.outcomes import tells_outcome
from expctl.imported.vocabulary import DECIDED, MARKS

TEXT_MAX = 4000
TITLE_MAX = 300
WORDS = 4
SHORT_TITLE = 5
# What stands anywhere below such a heading has not been done.
PLANNED = re.compile(
    r"""\b(?:next\ (?:steps?|experiments?|ideas|up|actions?|candidates?|iterations?|session)|to-?do|future|roadmap|backlog
    |queue|not\ (?:yet\ )?(?:been\ )?(?:tried|tested|attempted|implemented)|(?:ideas|things|what)\ (?:to|for|would|we\ will)
    |open\ questions?|remaining\ (?:ideas|opportunities|work|steps)|untried|planned|plans?)\b
    |^\W*(?:next|follow-?ups?|upcoming)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# Below a short one with such a word stands what explains or sums up.
EXPLAINED = re.compile(
    r"""\b(?:lessons?|insights?|learnings?|learned|summary|conclusions?|setup|environment|how\ to|methodology|background
    |overview|glossary|legend|references?|appendix|goals?|rules?|protocol|criteria|gates?|usage|hardware|takeaways?|files?|structure
    |instructions?|contents?|notes?\ on|recommend\w*|status|principles?|current\ (?:state|best)|targets?|profil\w+|breakdown
    |commands?|key\ findings?|guiding|priorities|motivation|architecture|conventions?|validation|correctness|verification
    |implementation|expected|analysis)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# A heading that says by itself that experiments stand below it, and the title of a document that tells of releases
TELLS_TRIED = re.compile(
    r"experiments?\b|attempt|\btried\b|kept\b|revert|reject|discard|hypothes[ei]s"
    r"|what (?:worked|didn|failed|we)|iterations? \d|trials?\b|verdicts?\b|ledger|dead.ends?|did(?:n.?t| not) (?:work|help)"
    r"|failed|ablation|optimi[sz]ations?\b|speed-?ups?\b|probes?\b|candidates\b",
    re.IGNORECASE,
)
RELEASES = re.compile(r"change ?log|release notes|^news$|^readme$", re.IGNORECASE)
AT_START = re.compile(r"\W*(?:\d+\W+)?(?:(?:the|an?|initial|stock|original|first)\W+)*(?:baseline|reference)\b", re.IGNORECASE)
WORD = re.compile(r"[^\W\d_]{2,}")
BOLD_LINE = re.compile(r"\W{0,6}(?:\*\*|__)(.+?)(?:\*\*|__)\s*(.*)")
SENTENCE = re.compile(r"(?<=[.!])\s+(?=\W*[A-Z])")
# `+3 %`, `-12 tok/s`, `1.5x`, `3.1 -> 2.9 ms`
CHANGED = re.compile(
    r"(?:^|[\s(*~≈:|])(?:[-+−±]\s?\d[\d.,]*|\d[\d.,]*)(?:\s?%|x\b|×)(?!\s?\d)|[-+−±]\d[\d.,]*\s?[a-zµμ]{1,6}\b"
    r"|\d\W{0,3}[a-zµμ]{0,6}(?:/[a-z]+)?\W{0,3}\s?(?:→|->|=>)\s?\W{0,3}\d",
    re.IGNORECASE,
)
# The word and the number, or the id, or the date, with which a heading begins that is one of many
COUNTED = re.compile(
    r"[\W_]*(?:(?P<date>\d{4}-?\d\d-?\d\d)(?:T\d+Z?)?|(?P<word>[^\W\d_]+)?[\s#_-]{0,3}\d+(?:\.\d+)*[a-z]?\b|(?P<commit>`?[0-9a-f]{7,40}\b))(?!\s?(?:%|x\b|×|ms\b|us\b))",
    re.IGNORECASE | re.ASCII,
)
# What an experiment was run on; and a label of which nothing is said but what follows
RUN_ON = re.compile(
    r"""\W*(?:platforms?|os|cpus?|gpus?|(?:\w+[ _])?arch(?:itecture)?|target[ _](?:arch|features?|cpu)(?:\(s\))?|rustc?|cargo
    |rustflags|cflags|compiler|gcc|clang|python|node(?:\.js)?|cuda|driver|host|hardware|machine|toolchain|kernel\ version
    |commands?)\W{0,4}(?:[:：.]|$)""",
    re.IGNORECASE | re.VERBOSE,
)
ONLY_LABEL = re.compile(r"\W*[^:：\d]{1,60}[:：][\W_]*")
# `Connected rooks (failed)`, `a shadow copy — SUPERSEDED`, `2. ~~a pool~~ — done`: somebody closed it.
CLOSED = re.compile(
    r"[(（\[]\s*(?:failed|superseded|declined|shelved|retracted|withdrawn|abandoned|rejected|reverted|dropped|discarded|[❌✅]|不?採用)"
    r"(?:\W|$)|\s[-–—]+\s+(?:later )?(?-i:[A-Z]{2,}(?:ED|LT|NE))\b|^\W*~~[^~]+~~|結論\s*[:：]\s*(?:棄却|不?採用|却下)",
    re.IGNORECASE,
)
CLOSED_MIN = 2
# Titles about experiments in other languages: enough to ask, not to read
ABROAD = re.compile(r"попыт|эксперимент|оптимизац|実験|最適化|实验|优化", re.IGNORECASE)
# What begins so is an experiment of its own, whatever the heading above it tells.
UNDID = re.compile(r"\W*(?:reverted|rejected|discarded|abandoned|backed out|rolled back) (?:the|an?)\b", re.IGNORECASE)
# Below such a head stands what was measured, or on what: no change.
OF_SIZES = re.compile(
    r"""\b(?:metrics?|param(?:eter)?s?|property|resource|dimension|quantity|batch|sizes?|shapes?|context|seq(?:uence)?|length|[nmk]|path
    |files?|field|counter|gpu|device|hardware|layer|dataset|command|flag|section|workloads?|regime|concurrency|threads|tokens|tests?
    |benchmark|scenario|platform)\b""",
    re.VERBOSE,
)


def holds_none(title: str) -> bool:
    """Return whether a heading is that of plans, or a short one that of rules, summaries and their like."""
    found = EXPLAINED.search(title)
    few = len(title.split()) <= SHORT_TITLE and not tells(title)
    return bool(PLANNED.search(title)) or (found is not None and (few or not title[: found.start()].strip("#*_ ")))


def counting_word(title: str) -> str | None:
    """Return the word before the number with which a heading begins, "" for a bare number, None where it begins with none, or
    with that of a chapter (`1.2`).
    """
    found = COUNTED.match(title)
    if found and found["date"]:
        return "date"
    if found and not found["word"] and "." in found[0].strip("."):
        return None
    return (found["word"] or ("commit" if found["commit"] else "")).lower() if found else None


def tells(text: str) -> bool:
    """Return whether a title, an item or a cell tells in its beginning or its end what came of something."""
    if len(text) <= TITLE_MAX:
        return bool(tells_outcome(text) or CHANGED.search(text))
    return tells_outcome(text[:TITLE_MAX]) or tells_outcome(text[-TITLE_MAX:]) or bool(CHANGED.search(text[:TITLE_MAX]))


def decides(text: str) -> bool:
    """Return whether a text has a word for what was done, or a check mark or cross."""
    return bool(MARKS.search(text) or DECIDED.search(text))


def tells_outcome_of(section: Section) -> bool:
    """Return whether the text of a section has a word for an outcome, or a difference in figures."""
    return tells_outcome(text_of(section)[:TEXT_MAX]) or bool(CHANGED.search(text_of(section)[:TEXT_MAX]))


def told_whole(section: Section) -> bool:
    """Return whether a section tells one experiment in labelled parts."""
    return tells_one(outside_fences(section.lines)) and tells_outcome_of(section)


def closes_several(document: Document) -> bool:
    """Return whether some headings and items of a document say that they were closed."""
    texts = [text for section in document.sections for text in (section.title, *(line.text for line in section.lines))]
    return sum(CLOSED.search(text) is not None for text in texts) >= CLOSED_MIN


def closed_in_text(section: Section) -> bool:
    """Return whether a section tells one experiment in labelled parts, with a word for what was done."""
    return told_whole(section) and decides(text_of(section))


def ends(title: str) -> list[str]:
    """Return the parts of a heading where its verdict may stand."""
    ends = (title[:1], title.rstrip("\ufe0f *_")[-1:])
    return [*(end for end in ends if MARKS.fullmatch(end)), *tails(title)]


def text_of(section: Section) -> str:
    """Return the lines of a section outside fences."""
    return "\n".join(line.text for line in outside_fences(section.lines))


def told_in(section: Section) -> list[str]:
    """Return what a section says where its verdict may stand: labelled lines, bold words, and its last sentences."""
    lines = [line.text for line in outside_fences(section.lines) if line.text.strip()]
    labelled = [found[1] for line in lines if (found := LABEL.fullmatch(line))]
    bold = [found[1] for line in lines if (found := BOLD_LINE.match(line[:TEXT_MAX])) and tells_outcome(found[1])]
    return [*labelled, *bold, *reversed(lines[-3:]), " ".join(lines)[:TEXT_MAX]]


def may_be_tried(text: str) -> bool:
    """Return whether an item of a list may be an experiment: no part of one, no baseline, nothing that explains."""
    title, _ = parted(text)
    short = len(title.split()) <= WORDS
    if RUN_ON.match(text) or ONLY_LABEL.fullmatch(text):
        return False
    return not (PART.fullmatch(title) or AT_START.match(title) or (short and holds_none(title)))


def slots(text: str) -> Iterable[str]:
    """Return the parts of an item where its verdict may stand, the surest first."""
    text = text[:TEXT_MAX]
    title, rest = parted(text)
    sentences = SENTENCE.split(rest)
    first = [title] if len(title.split()) <= WORDS else []
    return [*first, *tails(title), *tails(rest), sentences[0], sentences[-1], text]
