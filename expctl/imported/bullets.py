"""Find the experiments that a hand-kept ledger tells in bullets: what was tried, and in a part of its own what was decided."""

import dataclasses
import re
from collections.abc import Iterator, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import plain_text
from expctl.imported.document import Again, Line, Row, Section
from expctl.imported.headings import CAPITAL_WORD, DATE, IDENTIFIED, NUMBERED, SHOUTED, SPLIT, read_heading, title_and_name
from expctl.imported.items import BOLD, items, parted, told_changes
from expctl.imported.rules import FORBIDS
from expctl.imported.verdicts import Dialect, opens_with_verdict, rulings
from expctl.imported.vocabulary import DECIDED, KEPT_ASIDE, MEANS

CHECKBOX = re.compile(r"\[[ xX]\]\s+")
ABOUT_EXPERIMENTS = re.compile(
    r"experiment|attempt|tried|optimi[sz]ation|ledger|history|results?\b|kept|reverted|rejected|discarded|hypothes[ei]s|probes?\b"
    r"|iterations?\b|candidates?\b|what (?:worked|didn)|log\b|ideas|decisions?\b|trials?\b|verdicts?\b|versuche",
    re.IGNORECASE,
)
EXPLAINS_WORDS = re.compile(
    r"legend|how to read|lifecycle|states?\b|status(?:es| types| values)|glossary|schema|template|meaning|format"
    r"|key(?: to\b.*)?\W*$",
    re.IGNORECASE,
)
MEASURED = re.compile(r"\d\s*(?:%|x\b|×|[munµ]?s\b|[kMGT]?(?:FLOPS?|B)\b|fps|cycles|[a-z]+/s)|→|->", re.IGNORECASE)
# `..., reverted.`, `... and reverted to E3.`, `..., kept for simplicity.` and `...; keep.`
LAST = re.compile(
    r"(?:(?:[,;(]|->|→)\s*(?:(?:was |so |then )?(?P<done>kept|retained|rejected|discarded|reverted|rolled back|dropped))"
    r"|\band (?P<undone>reverted|rolled back)"
    r"|\b(?:tried|tested|prototyped|built) (?:and|but) (?:then |later )?(?P<gone>removed|dropped|abandoned|rejected|discarded))"
    r"(?:\s+(?:to|for)(?:\s+[\w.-]+){1,4})?\W*$"
    r"|[,;]\s*(?P<rule>keep|revert|discard)\W*$",
    re.IGNORECASE,
)
# `Change: wider loads. Removed the old ones.` says what was done.
TELLS_CHANGE = re.compile(r"\W*(?:changes?|what(?: changed)?|starts?|setup|hypothesis|idea|why|plan|next)\W*:", re.IGNORECASE)
# `Merged the two scans` and `Kept the same order` say what was changed, not what became of it.
DID = re.compile(r"applied|merged|landed|shipped|deployed|dropped|accepted|adopted|committed|removed", re.IGNORECASE)
# `Kept quotient-like signals as the main lane` likewise.
KEPT_NOUN = re.compile(r"kept [a-z]+-[a-z]+ [a-z]", re.IGNORECASE)
DESCRIBES = re.compile(
    r"(?:kept|retained|removed|dropped|merged) (?:the|an?|its|this|same|all|both|only|so|to|because|unused|old|extra)\b",
    re.IGNORECASE,
)
# `Experiment 3 discarded: ...` and `E3 kept: ...`
RULED_ID = re.compile(
    r"\W*((?:(?:experiment|exp|attempt|run|iteration|trial)\W*)?[A-Za-z]{0,6}-?#?\d+[a-z]?)\W+((?:was )?[A-Za-z ]+?)\W*",
    re.IGNORECASE,
)
# `PASS. Seen: accepted, cancelled` tells what a test saw.
TEST_SAW = re.compile(r"\bPASS(?:ED)?\b.*\baccepted,", re.DOTALL)
# `C1, C2, C3: all neutral` tells of several.
SENTENCE = re.compile(r"[.;]\s")
MANY = re.compile(r"\b(?:[A-Za-z]{1,4}-?\d+[a-z]?,\s+){2}", re.ASCII)
LOST = re.compile(r"\b(?:reverted|rejected|discarded|regressed|lost|refuted|abandoned|rolled back)\b", re.IGNORECASE)
# What may follow a verdict that begins a bullet
ALONE = re.compile(r"\W*$|\s*[,;:.(\[]|\s+(?:because|for|as|since|after|by|due|in|on|at|with|and|but)\b", re.IGNORECASE)
FAILED = re.compile(r"(\.\s+)Failed(?: and reverted| \([^()]*\))?\.(?=\s|$)")
STANDS_FOR_FAILED = "Rejected (Failed)"
DECIDES = re.compile(r"(?:^\s+|\.\s+)Kept\.")
# `Kill: slower than 3 ms` says when it would be done.
WOULD = re.compile(r"kill|promote|demote|merge", re.IGNORECASE)
DONE_AND = re.compile(r"(?:completed|implemented|done|tested|tried|measured|built) (?:and|but) ", re.IGNORECASE)
# `Kept after the rerun: ...`, `Major kept win: ...`, in a list of such
LEADS = re.compile(
    r"(?P<lead>\W*(?:[\w-]+ ){0,2}?"
    r"(?P<verdict>kept|retained|landed|merged|accepted|reverted|rejected|discarded|dropped|abandoned)"
    r"(?: [^:]{0,60})?):\s+(?P<rest>\S.*)",
    re.IGNORECASE,
)
LED_MIN = 4
# `Not kept as default: ...`, `Kept as evidence only: ...`
NOT_SO = re.compile(rf"\b(?:not|never|no)\b|{KEPT_ASIDE.pattern}", re.IGNORECASE)
# `A change that passes is right: KEEP it`, `ANY regression -> revert` and `If it is slower, drop` are rules.
RULE = re.compile(r"\b(?:if|any|when|whenever|unless|every|each|a change that)\b|[↑↓]|[<>≤≥]=?\s*`?[a-z\d]", re.IGNORECASE)
# `Passes the check -> `keep`` and `Crash -> log it`: what a loop is told to do
TOLD_TO = re.compile(r"(?:→|->|=>)\s*`[a-z_]+`|\W*(?:crash(?:es)?|errors?|timeouts?)\s*(?:→|->|=>)", re.IGNORECASE)
ORDER = re.compile(r"(?:keep|drop|revert|discard|kill|reject|merge|ship|accept|retain|apply)\b", re.IGNORECASE)
# `rejected at 16 > 12` tells what a test does.
LIMIT = re.compile(r"[^(\[]*\d\s*[<>≤≥]")
TAKEN_BACK = re.compile(
    r"\b(?:later|then|subsequently|since|eventually|finally|was|were) (?:\w+ )?"
    r"(?:reverted|removed|rolled back|dropped|discarded)\b"
    r"|\b(?:reverted|rolled back|discarded) (?:later|afterwards?|again|in)\b",
    re.IGNORECASE,
)
NEAR = 200
LABELLED = re.compile(r"^\W*\[([A-Za-z ]+)\]\W*\s")
ROW_MAX = 4000
SHOWN_MAX = 120
# `Verdict: kept`, `**Decision.** Reverted, ...` and `- **Status:** rejected` below the heading of an experiment
LABEL = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:final\s+)?(?:verdict|decision|disposition|outcome|status|result|conclusion|ruling|urteil|entscheidung|結論|判定|结论)"
    r"\s*(?:\*\*|__)?\s*[:：.]\s*(?:\*\*|__)?\s*((?!(?:\*\*|__)\s*$)\S.*)",
    re.IGNORECASE,
)


def read_bullets(
    section: Section, lines: Sequence[Line], dialect: Dialect, rows: Sequence[Row], *, fails: bool = False
) -> Iterator[Row | Again]:
    """Yield an experiment for each bullet that says what was tried and, in a part of its own, what was decided.

    One with the id and the verdict of one of `rows`, which stand in tables, tells of that again. `fails`: where other bullets
    say `Kept.`, `Failed.` is a decision too.
    """
    names = {row.name for row in rows if row.name}
    if FORBIDS.search(section.title) or EXPLAINS_WORDS.search(section.title):
        return
    about = bool(ABOUT_EXPERIMENTS.search(f"{section.title} {section.under}"))
    listed = list(items(lines))
    led, changes = _lead_with_verdicts([text for _, text, _ in listed]), told_changes(lines)
    for line, text, paragraph in listed:
        bare = DATE.sub("", CHECKBOX.sub("", text), count=1)
        known = IDENTIFIED.match(bare)
        if (
            len(text) > ROW_MAX
            or line in changes
            or not (about or known or MEASURED.search(bare[:NEAR]))
            or LABEL.fullmatch(text)
            or TELLS_CHANGE.match(text)
            or MANY.search(bare[:NEAR])
            or MEANS.search(bare[:NEAR])
        ):
            continue
        whole = FAILED.sub(rf"\1{STANDS_FOR_FAILED}.", bare) if fails else bare
        leads = LEADS.fullmatch(bare) if led else None
        headed = _led(leads) or _headed(bare, dialect)
        parted = headed or _shouted(bare) or (_parted(whole, dialect) if not paragraph else None)
        if parted is None:
            continue
        change, words, rest = parted
        if (ORDER.match(words.strip("*_` ")) and (RULE.search(bare) or TOLD_TO.search(bare))) or TOLD_TO.match(bare):
            continue
        title, name = title_and_name(change)
        made = rulings(words, dialect)
        if isinstance(made, tuple):
            made = tuple(dataclasses.replace(each, words=each.words.replace(STANDS_FOR_FAILED, "Failed")) for each in made)
        if (
            isinstance(made, tuple)
            and made[0].verdict is Verdict.KEEP
            and ((TAKEN_BACK if leads else LOST).search(f"{section.title} {bare}") or TEST_SAW.search(bare))
        ):
            continue  # it tells of several attempts, or says both
        if not isinstance(made, tuple) or not re.search(r"\w\W+\w", title or name):
            continue
        if name in names:
            told = {each.verdict for row in rows if row.name == name for each in row.rulings}
            if told == {each.verdict for each in made}:
                yield Again(line=line, text=plain_text(text)[:SHOWN_MAX], row=next(r.line for r in rows if r.name == name))
            continue
        yield Row(
            line=line,
            name=name,
            rulings=made,
            change=plain_text(title or name),
            result=plain_text(rest.replace(STANDS_FOR_FAILED, "Failed")),
            why="",
            date="",
            figures=(),
            table=section.line,
        )


def _lead_with_verdicts(texts: Sequence[str]) -> bool:
    """Return whether half of a list's items, and at least four, begin with a verdict: `Kept: ...`, `Dropped again: ...`."""
    led = sum(bool(LEADS.fullmatch(text)) for text in texts)
    return led >= LED_MIN and led >= len(texts) / 2


def _led(found: re.Match[str] | None) -> tuple[str, str, str] | None:
    """Split a bullet of such a list as `_parted` does; None where two verdicts stand before the colon."""
    if not found or len(DECIDED.findall(found["lead"])) != 1 or NOT_SO.search(found["lead"]):
        return None
    return found["rest"], found["verdict"], found["rest"]


def _shouted(text: str) -> tuple[str, str, str] | None:
    """Split a bullet such as `E7 REJECTED on the real input: ...`, where its first sentence has no second such word."""
    found = SHOUTED.match(text)
    first = SENTENCE.split(text, maxsplit=1)[0]
    if not found or len(CAPITAL_WORD.findall(first)) != 1 or not IDENTIFIED.match(text):
        return None
    return f"{found[1]}: {text[found.end() :].strip(' :-–—*_')}", found[2], text[found.end() :]


def _headed(text: str, dialect: Dialect) -> tuple[str, str, str] | None:
    """Split a bullet whose bold beginning, or whose number, ends as a heading does, with a verdict, as `_parted` does."""
    bold = BOLD.match(text)
    title, rest = (bold["bold"], bold["rest"]) if bold else parted(text) if NUMBERED.match(text) else ("", "")
    heading = read_heading(title.rstrip(" :."), dialect, marked=False) if title else None
    return (heading.title, heading.words, rest) if heading and heading.words else None


def _parted(text: str, dialect: Dialect) -> tuple[str, str, str] | None:
    """Split a bullet into (what was tried, the verdict's words, the rest); None where no part is a verdict, or two are."""
    parts = [part for part in SPLIT.split(LABELLED.sub(r"\1: ", text)) if part.strip(" *_")]
    headed = RULED_ID.fullmatch(parts[0]) if len(parts) > 1 else None
    if headed and DECIDED.fullmatch(headed[2].removeprefix("was ")):
        number = NUMBERED.fullmatch(headed[1])
        return f"{number[1] if number else headed[1]}: {parts[1]}", headed[2], " - ".join(parts[2:])
    decided = [at for at, part in enumerate(parts) if _is_decision(part, dialect, first=at == 0)]
    if decided[:1] == [0] and DID.fullmatch(parts[0].strip("*_ ")) and not parts[0].strip("*_ ").isupper():
        return None
    if len(decided) == 1 and len(parts) > 1:
        at = decided[0]
        if at == 0:
            return parts[1].strip("*_ "), parts[0], " - ".join(parts[2:])
        return " - ".join(parts[:at]), parts[at], " - ".join(parts[1:at] + parts[at + 1 :])
    last = LAST.search(text) if not decided else None
    return (text[: last.start()], next(filter(None, last.groups())), text) if last else None


def _is_decision(part: str, dialect: Dialect, *, first: bool) -> bool:
    """Return whether `part` begins with a word for what was done: `reverted, no gain`, and not `keep what is faster`."""
    bare = DONE_AND.sub("", part.replace("*", "").replace("`", "").strip(" _[]()."), count=1)
    word = DECIDED.match(bare.lstrip("✓✔✅☑👍✗✘❌✖👎⚫🟢🔴\ufe0f "))
    if not word or opens_with_verdict(bare, dialect) is None or WOULD.fullmatch(word[0]):
        return False
    after = word.string[word.end() :]
    if not ALONE.match(after) or LIMIT.match(after) or (first and re.fullmatch(r"Keep|Revert|Drop", bare)):
        return False  # `retained pool: 154 us` names something, `Keep: the loader` is an order
    if (
        KEPT_NOUN.match(word.string[word.start() :])
        or DESCRIBES.match(word.string[word.start() :])
        or (DID.fullmatch(word[0]) and len(bare.split()) > 3 and not re.match(r"[,;:.(]", word.string[word.end() :]))
    ):
        return False
    return word[0].isupper() or word[0].lower().endswith(("ed", "kept", "back", "out")) or len(bare.split()) == 1
