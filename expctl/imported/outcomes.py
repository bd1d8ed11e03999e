"""Weigh the words with which people tell how an experiment went, from what was done (`reverted`) down to what was seen.

What this finds is a guess: it is proposed to a person, and is a verdict only where the structure around it says so.
"""

import re
from collections.abc import Iterable

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.verdicts import rulings
from expctl.imported.vocabulary import CLAUSE, DECIDED, MARKED, MARKS, NO_FAULT, PATTERNS, is_hedged, opens_with_hedge

TEXT_MAX = 4000
# What may stand before the outcome in the part of a heading that tells it: `UNIVERSALLY HARMFUL`, `BIG WIN (base)`
LEAD = (
    r"\W*(?:(?:big|huge|major|minor|small|moderate|clear|hard|solid|massive|universally|partial|net|new|the|an?"
    r"|(?-i:[A-Z][A-Z\d]+))\W+){0,2}?"
)
# Stems of what was seen, by the verdict that they let one guess
STEMS = {
    Verdict.INVALID: r"""crash\w*|oom|out\ of\ memory|compil\w+\ (?:error|fail\w*|issues?)|(?:does|did)(?:n.?t|\ not)\ compile
    |timed?\ ?out|hangs?|hung|nans?|segfault\w*|(?:broke|breaks|broken)\ correctness|incorrect
    |wrong\ (?:results?|output|answer)s?|崩溃""",
    Verdict.NO_OP: r"""neutral|negligible|no[-\ ]op|flat|a\ wash
    |(?:no|zero|without)\ (?:\w+\ )?(?:effect|impact|change|difference|value)
    |(?:within|in|inside|below)\ (?:the\ )?(?:\w+\ )?noise|unchanged|identical|tie|marginal\w*|无显著\w*|无变化
    |持平|差なし|変化なし|ワッシュ|neutr[oa]s?|ruído|sem\ (?:ganho|diferença|efeito)|null|nulo""",
    Verdict.REJECT: r"""lost|loss|loses?|losers?|harm\w*|hurts?|worse\w*|slow(?:er|s|ed|down)\w*|slow-?down|regress\w*|refut\w+
    |disprov\w+|falsif\w+|fail\w*|dead|degrad\w*|unsuccessful|eliminated|abandon\w*|infeasible|incompatible|unsupported
    |not\ (?:worth|viable|possible|supported|helpful|implemented|attempted|needed|applicable)
    |too\ (?:large|small|slow|big|many|much|high|low)|(?:did|does|do)(?:n.?t|\ not)\ (?:work|help|pay|improve|matter)
    |went\ back|undone|disabled|broke|breaks|broken|outweigh\w*|回退|变慢|更慢|失败|无效|退化|放弃
    |(?:改善|効果|向上)(?:なし|無し)|悪化|不採用|凍結|死亡|寝かせ
    |regrediu|piorou|pior|falhou|empeoró|plus\ lent|mais\ lent[oa]""",
    Verdict.KEEP: r"""wins?|won|winners?|winning|champions?|best|optimal|success\w*|supported|confirmed|improv\w+|faster
    |speed-?ups?|gain(?:s|ed)?|beats?|better|works|worked|helps|helped|paid\ off|enabled|breakthrough|new\ frontier|fixed
    |implemented|done|recommended|active|in\ production|default|有效|提升|加速|成功|完成|採用|改善|全勝
    |(?<![\u4e00-\u9fff])済(?![\u4e00-\u9fff])""",
}  # fmt: skip
STEM = "|".join(rf"(?P<{verdict.name}>{stems})" for verdict, stems in STEMS.items())
OUTCOMES = re.compile(rf"(?<![A-Za-z0-9_])(?:{STEM})(?![A-Za-z0-9_])", re.IGNORECASE | re.VERBOSE)
# An outcome that says in the end of a heading, beside such of the other kind, what became of the change
SURE = re.compile(
    rf"{LEAD}(?:(?P<KEEP>wins?|winners?|champion|success|breakthrough|improvement|improved|confirmed)"
    r"|(?P<REJECT>lost|loss|losers?|harmful|hurts|worse|slower|refuted|disproved|falsified|regress(?:ion|ed)))"
    r"(?:\W*$|\s*[,;:(\[–—])",
    re.IGNORECASE,
)
# The first clause of a cell below a head such as `Verdict`
IN_COLUMN = re.compile(
    r"\W*(?:(?:big|huge|clear|new)\W+)?(?:(?P<KEEP>wins?|winner|better|best|faster|improved|improvement|success|sota)"
    r"|(?P<REJECT>worse|worst|slower|bad|lost|loss|hurts?|harmful|regression|regressed|no gain))\W*",
    re.IGNORECASE,
)
BOLD = re.compile(
    r"\*\*\s*((?:Ship|Keep|Adopt|Merge|Land|Accept|Drop|Revert|Reject|Discard|Kill|Abandon)(?:ped|ted|ed)?|Kept)[.!]?\s*\*\*",
    re.ASCII,
)
NEGATIONS = r"(?:\b(?:no|not|none|never|without|nor|neither|nothing|zero|hardly|nicht|kein\w*)\b|n['’]t\b|[不无没])"
NEGATION = re.compile(NEGATIONS, re.IGNORECASE)
NEGATED = re.compile(rf"{NEGATIONS}\W*(?:\w+\W+){{0,2}}$", re.IGNORECASE)
NEAR = 32
# Words beside which the other verdict is not even proposed
AGAINST = {
    Verdict.KEEP: re.compile(
        r"\bnegative results?\b|^\W*(?:skipped|abandoned)\b|\bruled out\b|\bfound nothing\b|\bdid(?: not|n.?t) pay off\b",
        re.IGNORECASE,
    ),
    Verdict.REJECT: re.compile(r"(?<!not )\bkept as (?:an? )?(?:feature|option|opt-in|fallback|default)\b", re.IGNORECASE),
}


def weigh(text: str) -> Verdict | None:
    """Return the verdict that `text` seems to tell; None where it tells none, or two."""
    text = text[:TEXT_MAX]
    made = rulings(text)
    if isinstance(made, tuple):
        return made[0].verdict if len({each.verdict for each in made}) == 1 else None
    done = _done(text)
    if done:
        return done.pop() if len(done) == 1 else None
    for part in (CLAUSE.split(text, maxsplit=1)[0], text):
        seen = seen_in(part)
        if seen:
            return seen.pop() if len(seen) == 1 else None
    return None


def first_guess(texts: Iterable[str]) -> Verdict | None:
    """Return the verdict of the first of `texts` that tells one; None where a clear word in one of them is against it."""
    told = list(texts)
    found = next((found for text in told if (found := weigh(text))), None)
    against = AGAINST.get(found) if found else None
    return None if against and any(against.search(text[:TEXT_MAX]) for text in told) else found


def seen_in(text: str) -> set[Verdict]:
    """Return the verdicts that the outcomes in `text` let one guess; `no gain` is a REJECT, `no regression` tells nothing."""
    marks = {MARKED[mark] for mark in MARKS.findall(text)}
    found: set[Verdict] = set()
    for word in OUTCOMES.finditer(text):
        verdict = Verdict[word.lastgroup or ""]
        negated = NEGATED.search(text, max(0, word.start() - NEAR), word.start())
        if not negated or verdict in (Verdict.NO_OP, Verdict.INVALID):
            found.add(verdict)
        elif verdict is Verdict.KEEP:
            found.add(Verdict.REJECT)
    return found or marks


def sure_outcome(text: str) -> Verdict | None:
    """Return KEEP or REJECT for a text that is an outcome and little else: `BIG WIN (base)`, `HARMFUL`, `LOST (both)`.

    None where something is negated, be it in capitals: `NO IMPROVEMENT`, `IMPROVEMENT: none`; `no regression` doesn't count.
    """
    plain = NO_FAULT.sub("", text)
    found = SURE.match(plain)
    return Verdict[found.lastgroup or ""] if found and not NEGATION.search(plain) else None


def outcome_of_cell(cell: str) -> Verdict | None:
    """Return KEEP or REJECT for a cell below a head such as `Verdict` that begins with an outcome: `BEST`, `worse: 3 % slower`.

    None where a later clause tells the other one, or what was done. In a long cell one word in bold decides: `**Ship.**`.
    """
    ordered = {made[0].verdict for word in BOLD.findall(cell[:TEXT_MAX]) if isinstance(made := rulings(word), tuple)}
    if ordered:
        return ordered.pop() if len(ordered) == 1 else None
    first, *others = [part for part in CLAUSE.split(cell[:TEXT_MAX].replace("*", "")) if part.strip()] or [""]
    found = IN_COLUMN.fullmatch(first)
    if not found or any(DECIDED.search(part) for part in others) or any(map(opens_with_hedge, others[:1])):
        return None
    verdict = Verdict[found.lastgroup or ""]
    other = {Verdict.KEEP, Verdict.REJECT} - {verdict}
    return None if any(seen_in(part) & other for part in others) else verdict


def tells_outcome(text: str) -> bool:
    """Return whether `text` has a word for what was done, or for what was seen."""
    return bool(DECIDED.search(text) or OUTCOMES.search(text) or MARKS.search(text))


def _done(text: str) -> set[Verdict]:
    """Return the verdicts of the words in `text` that tell what was done, where no hedge stands beside them."""
    found: set[Verdict] = set()
    for clause in CLAUSE.split(text):
        word = DECIDED.search(clause)
        if word and not is_hedged(clause[: word.start()] + "\0" + clause[word.end() :]):
            found |= {verdict for verdict, pattern in PATTERNS if pattern.fullmatch(word[0])}
    return found
