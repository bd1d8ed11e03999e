"""Find experiments that a hand-kept ledger tells outside tables: bullets with a verdict, and sections that end with one."""

import dataclasses
import itertools
import re
from collections.abc import Iterator, Sequence

from expctl.domain.experiment.proposal import Verdict
from expctl.domain.text import plain_text
from expctl.imported.document import Document, Line, Row, Section, Unread
from expctl.imported.rules import FORBIDS
from expctl.imported.verdicts import DECIDED, MARKS, Dialect, Pending, opens_with_verdict, rulings

FENCE = re.compile(r"\s*(?:```|~~~)")
BULLET = re.compile(r"(\s*)(?:[-*+]|\d+[.)])\s+(\S.*)")
CONTINUED = re.compile(r"\s+\S")
CHECKBOX = re.compile(r"\[[ xX]\]\s+")
# `Verdict: kept`, `**Decision.** Reverted, ...` and `- **Status:** rejected` below the heading of an experiment
LABEL = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:final\s+)?(?:verdict|decision|disposition|outcome|status|result|conclusion|ruling|urteil|entscheidung)"
    r"\s*(?:\*\*|__)?\s*[:.]\s*(?:\*\*|__)?\s*(\S.*)",
    re.IGNORECASE,
)
ONLY_LABEL = re.compile(
    r"\s*[-*+]\s+\W*(?:verdict|decision|outcome|status|conclusion|ruling)\s*(?:\*\*|__)?\s*:\s*(?:\*\*|__)?\s*", re.IGNORECASE
)
TELLS_RESULT = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:results?|measured|measurements?|impact|effect|numbers|ergebnis)\s*(?:\*\*|__)?\s*[:.]\s*(?:\*\*|__)?\s*(.*)",
    re.IGNORECASE,
)
TELLS_WHY = re.compile(
    r"\s*(?:[-*+]\s+)?\W*(?:why(?: [a-z ]+)?|reasons?|root cause|rationale|lesson|learning|grund)"
    r"\s*(?:\*\*|__)?\s*[:.]\s*(?:\*\*|__)?\s*(.*)",
    re.IGNORECASE,
)
ABOUT_EXPERIMENTS = re.compile(
    r"experiment|attempt|tried|optimi[sz]ation|ledger|history|results?\b|kept|reverted|rejected|discarded|hypothes[ei]s|probes?\b"
    r"|iterations?\b|candidates?\b|what (?:worked|didn)|log\b|ideas|decisions?\b|trials?\b|verdicts?\b|versuche",
    re.IGNORECASE,
)
EXPLAINS_WORDS = re.compile(
    r"legend|lifecycle|states?\b|status(?:es| types| values)|glossary|schema|template|meaning|format|key\b", re.IGNORECASE
)
MEASURED = re.compile(r"\d\s*(?:%|x\b|×|[munµ]?s\b|[kMGT]?(?:FLOPS?|B)\b|fps|cycles|[a-z]+/s)|→|->", re.IGNORECASE)
IDENTIFIED = re.compile(
    r"\W*(?:(?P<id>[A-Za-z]{1,6}-?\d+[a-z]?(?:-[A-Z]\d*[a-z]?)?|#\d+)\b|`?(?P<hash>[0-9a-f]{7,40})\b`?)", re.ASCII
)
# `FP16 sums` and `AArch64 loops` begin with no id, `EXP16: sums` does.
LONG_ID = re.compile(r"[A-Za-z]{2,}-?\d|[a-z]\d")
SEPARATED = re.compile(r"\W*$|\s*[:.)\]–—|]|\s+-")
SPLIT = re.compile(r"\s+[-–—]+\s+|\s*[–—]\s*|:\s+|:\*\*\s*|\s*(?:→|->|=>)\s*|\.\s+(?=\W*[A-Z])")
LAST = re.compile(
    r"[,;(]\s*((?:was |so |then )?(?:kept|retained|rejected|discarded|reverted|rolled back|dropped))\W*$", re.IGNORECASE
)
# `Merged the two scans` and `Kept the same order` say what was changed, not what became of it.
DID = re.compile(r"applied|merged|landed|shipped|deployed|dropped|accepted|adopted|committed|removed", re.IGNORECASE)
DESCRIBES = re.compile(
    r"(?:kept|retained|removed|dropped|merged) (?:the|an?|its|this|same|all|both|only|so|to|because)\b", re.IGNORECASE
)
# Headings of sections that tell a part of the experiment above them
PART = re.compile(
    r"\W*(?:results?|analysis|correctness|validation|verification|measurements?|methodology|method|setup|summary|decision|verdict"
    r"|conclusions?|outcome|findings?|discussion|numbers|benchmarks?|evidence|implementation|changes?|hypothesis|rationale|notes?"
    r"|why .*|ergebnisse?|auswertung)\W*",
    re.IGNORECASE,
)
# `wider loads [REVERTED]`, `wider loads (rejected)`
BRACKETED = re.compile(r"[\[(]\s*([^\[\]()]{4,80}?)\s*[\])]\W*$")
# `Experiment 3 discarded: ...` and `E3 kept: ...`
RULED_ID = re.compile(
    r"\W*((?:(?:experiment|exp|attempt|run|iteration|trial)\W*)?[A-Za-z]{0,6}-?#?\d+[a-z]?)\W+((?:was )?[A-Za-z ]+?)\W*",
    re.IGNORECASE,
)
LOST = re.compile(r"\b(?:reverted|rejected|discarded|regressed|lost|refuted|abandoned|rolled back)\b", re.IGNORECASE)
UNSURE = re.compile(r"\W*(?:inconclusive|undecided|unclear)\b", re.IGNORECASE)
# `Changes that paid (applied)` is the heading of several experiments.
GROUP = re.compile(
    r"\W*(?:all |some |other |more |the |key |main |previously )?(?:\w+ )?(?:changes|experiments|optimi[sz]ations|attempts"
    r"|ideas|approaches|wins|losses|candidates|things|tests|techniques|hypotheses|improvements|variants|items|what)\b",
    re.IGNORECASE,
)
COMMAS = re.compile(r"\s*[,;(]\s*")
# `E12 REJECTED at 3 ms, ...`
SHOUTED = re.compile(
    r"[\W_]*([A-Za-z][\w-]*\d\w*|\d+)\W+(KEPT|LANDED|REJECTED|REVERTED|DISCARDED|ABANDONED|ACCEPTED|MERGED)\b", re.ASCII
)
# `**Attempted and reverted.**`, in a line of its own
TRIED_AND = re.compile(
    r"\s*(?:\*\*|__)(?:attempted|tried|implemented|built|tested|measured)(?: and|, then|,| then) (?:was )?(\w+(?: back)?)\W*",
    re.IGNORECASE,
)
HEADINGS_MAX = 2
# What may follow a verdict that begins a bullet
ALONE = re.compile(r"\W*$|\s*[,;:.(\[]|\s+(?:because|for|as|since|after|by|due|in|on|at|with|and|but)\b", re.IGNORECASE)
DONE_AND = re.compile(r"(?:completed|implemented|done|tested|tried|measured|built) (?:and|but) ", re.IGNORECASE)
NEAR = 200
KEPT_MARKS = "✓✔✅☑👍"
NUMBERED = re.compile(r"\W*(?:experiment|exp|attempt|run|iteration|round|pass|step|trial)\W*(\d+[a-z]?)\b", re.IGNORECASE)
LABELLED = re.compile(r"^\W*\[([A-Za-z ]+)\]\W*\s")
DATED = re.compile(r"\s*\([^()]*\)\s*$")
ROW_MAX = 4000


def read_text(document: Document, rows: Sequence[Row], dialect: Dialect) -> list[Row | Unread]:
    """Return the experiments told in bullets and sections, and those that wait for a verdict. A section about one of `rows`,
    the experiments of tables, tells no other. Lines in fences are not read.
    """
    found: list[Row | Unread] = []
    names = {row.name for row in rows if row.name}
    marks = {mark for section in document.sections for mark in MARKS.findall(section.title[:1])}
    marked = bool(marks & set(KEPT_MARKS)) and bool(marks - set(KEPT_MARKS))
    told: set[str] = set()
    for section in _experiments_of(document.sections):
        if section.title == document.title and rows:
            continue  # what is said of the whole document
        if section.under in told and not DECIDED.search(section.title):
            continue  # a part of the experiment above it
        lines = tuple(_outside_fences(section.lines))
        whole = _section(section, lines, names, dialect, marked=marked)
        if whole:
            told.add(section.title)
        found += [whole] if whole else list(_bullets(section, lines, dialect, names))
    return found


def _experiments_of(sections: Sequence[Section]) -> list[Section]:
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


def _outside_fences(lines: Sequence[Line]) -> Iterator[Line]:
    fenced = False
    for line in lines:
        if FENCE.match(line.text):
            fenced = not fenced
        elif not fenced:
            yield line


def _section(
    section: Section, lines: Sequence[Line], names: set[str], dialect: Dialect, *, marked: bool
) -> Row | Unread | None:
    """Return the experiment that a whole section tells: its heading ends with a verdict, or one line is labelled as such.

    `marked`: the document has headings that begin with `✅` and such that begin with `❌`, which then are verdicts.
    """
    title, name = _title_and_name(_without_verdict(section.title, dialect))
    number = NUMBERED.match(section.title)
    if not title or GROUP.match(title) or name in names or (number and number[1] in names) or FORBIDS.search(section.title):
        return None
    labelled = list(_labelled(lines))
    measured = sum(bool(TELLS_RESULT.fullmatch(line.text)) for line in lines)
    stated = [text for text in labelled if _is_stated(text, dialect)]
    parts = [part for part in SPLIT.split(section.title) if part.strip()]
    tail = DATED.sub("", parts[-1]) if len(parts) > 1 else ""
    bracketed = BRACKETED.search(section.title)
    if bracketed and any(map(DECIDED.match, COMMAS.split(bracketed[1]))):
        tail = bracketed[1]
        title, name = _title_and_name(section.title[: bracketed.start()])
    if len(parts) > 1 and DECIDED.fullmatch(parts[0].strip("*_ []")) and parts[0].strip("*_ [")[0].isupper():
        # `Kept: wider loads`
        words = parts[0]
        title, name = _title_and_name(section.title[section.title.index(parts[0]) + len(parts[0]) :].lstrip(" :-–—*_]"))
    elif shouted := SHOUTED.match(section.title):
        words = shouted[2]
        title, name = section.title[shouted.end() :].strip(" :-–—*_"), shouted[1]
    elif marked and MARKS.match(section.title):
        words = section.title[0]
        title, name = _title_and_name(section.title[1:].lstrip("\ufe0f "))
    elif any(map(DECIDED.fullmatch, COMMAS.split(tail.strip("*_ ")))) and isinstance(rulings(tail, dialect), tuple):
        words = tail  # `neutral, reverted`
    elif opens_with_verdict(tail, dialect) or DECIDED.match(tail.strip("*_ ")):
        words = tail
    elif len(stated) == 1 and len(labelled) - len(stated) <= 1 + measured:
        words = stated[0]
    else:
        return None
    made = rulings(words, dialect)
    if made is None:
        return Unread(line=section.line, text=plain_text(section.title)[:120], why=f"{words!r} is not recognised as a verdict")
    if isinstance(made, Pending):
        return Unread(line=section.line, text=plain_text(section.title)[:120], why=made.value)
    verdicts = {each.verdict for each in made}
    told = [opens_with_verdict(text, dialect) for text in stated]
    told += [Verdict.INCONCLUSIVE for text in labelled if UNSURE.match(text)]
    if any(other and {other} != verdicts for other in told):
        return None  # the label takes back what the heading says
    return Row(
        line=section.line,
        name=name,
        rulings=made,
        change=plain_text(title),
        result=_joined(lines, TELLS_RESULT),
        why=_joined(lines, TELLS_WHY) or plain_text(words),
        date="",
        figures=(),
        table=section.line,
    )


def _labelled(lines: Sequence[Line]) -> Iterator[str]:
    """Yield what lines labelled Verdict, Status or Decision say, be it in the line below."""
    for line, below in itertools.zip_longest(lines, lines[1:]):
        found = LABEL.fullmatch(line.text)
        item = BULLET.fullmatch(below.text) if below and ONLY_LABEL.fullmatch(line.text) else None
        told = TRIED_AND.fullmatch(line.text)
        if found or item or told:
            yield found[1] if found else item[2] if item else told[1]  # type: ignore[index]


def _is_stated(text: str, dialect: Dialect) -> bool:
    """Return whether a line labelled Verdict or Status says what was decided, and not only what was seen."""
    made = rulings(text, dialect)
    decided = DECIDED.search(text) or MARKS.match(text.strip("*_ "))
    return isinstance(made, Pending) or (isinstance(made, tuple) and decided is not None)


def _without_verdict(heading: str, dialect: Dialect) -> str:
    """Return a heading without the part at its end that is the verdict, or a date after it."""
    bare = DATED.sub("", heading)
    parts = [found for found in SPLIT.finditer(bare) if opens_with_verdict(bare[found.end() :], dialect)]
    return bare[: parts[-1].start()] if parts and bare[: parts[-1].start()].strip() else heading


def _bullets(section: Section, lines: Sequence[Line], dialect: Dialect, names: set[str]) -> Iterator[Row]:
    """Yield an experiment for each bullet that says what was tried and, in a part of its own, what was decided."""
    if FORBIDS.search(section.title) or EXPLAINS_WORDS.search(section.title):
        return
    about = bool(ABOUT_EXPERIMENTS.search(f"{section.title} {section.under}"))
    for line, text in _items(lines):
        bare = CHECKBOX.sub("", text)
        known = IDENTIFIED.match(bare)
        if len(text) > ROW_MAX or not (about or known or MEASURED.search(bare[:NEAR])) or LABEL.fullmatch(text):
            continue
        parted = _parted(bare, dialect)
        if parted is None:
            continue
        change, words, rest = parted
        title, name = _title_and_name(change)
        made = rulings(words, dialect)
        if isinstance(made, tuple) and made[0].verdict is Verdict.KEEP and LOST.search(f"{section.title} {bare}"):
            continue  # it tells of several attempts, or says both
        if not isinstance(made, tuple) or not re.search(r"\w\W+\w", title or name) or name in names:
            continue
        yield Row(
            line=line,
            name=name,
            rulings=made,
            change=plain_text(title or name),
            result=plain_text(rest),
            why="",
            date="",
            figures=(),
            table=section.line,
        )


def _items(lines: Sequence[Line]) -> Iterator[tuple[int, str]]:
    """Yield (line number, text) of each bullet, its continued lines joined."""
    open_at, text = 0, ""
    for line in lines:
        bullet = BULLET.fullmatch(line.text)
        if bullet:
            if open_at:
                yield open_at, text
            open_at, text = line.number, bullet[2]
        elif open_at and CONTINUED.match(line.text):
            text += " " + line.text.strip()
        elif open_at:
            yield open_at, text
            open_at = 0
    if open_at:
        yield open_at, text


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
    return (text[: last.start()], last[1], text) if last else None


def _is_decision(part: str, dialect: Dialect, *, first: bool) -> bool:
    """Return whether `part` begins with a word for what was done: `reverted, no gain`, and not `keep what is faster`."""
    bare = DONE_AND.sub("", part.replace("*", "").replace("`", "").strip(" _[]()."), count=1)
    word = DECIDED.match(bare.lstrip("✓✔✅☑👍✗✘❌✖👎⚫🟢🔴\ufe0f "))
    if not word or opens_with_verdict(bare, dialect) is None:
        return False
    if first and not ALONE.match(word.string[word.end() :]):
        return False  # `retained pool: 154 us` names something
    if DESCRIBES.match(word.string[word.start() :]) or (
        DID.fullmatch(word[0]) and len(bare.split()) > 3 and not re.match(r"[,;:.(]", word.string[word.end() :])
    ):
        return False
    return word[0].isupper() or word[0].lower().endswith(("ed", "kept", "back", "out")) or len(bare.split()) == 1


def _title_and_name(text: str) -> tuple[str, str]:
    """Split `**E3**: hoist constants` into (`hoist constants`, `E3`), `abc1234 wider loads` likewise."""
    found = IDENTIFIED.match(text.replace("*", ""))
    if not found or (found["id"] and LONG_ID.match(found["id"]) and not SEPARATED.match(text.replace("*", ""), found.end())):
        return text.replace("*", "").strip(" :-–—"), ""
    name = found["id"] or found["hash"] or ""
    if found["hash"] and not re.search(r"\d", found["hash"]):
        return text.replace("*", "").strip(" :-–—"), ""
    return text.replace("*", "")[found.end() :].strip(" `:.-–—"), name


def _joined(lines: Sequence[Line], label: re.Pattern[str]) -> str:
    return plain_text("; ".join(found[1] for line in lines if (found := label.fullmatch(line.text)) and found[1]))
