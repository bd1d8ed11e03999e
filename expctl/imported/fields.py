"""The labelled parts in which an experiment is told: `**Hypothesis**: ...`, `- Result: 3 % slower`, `Decision: reverted`."""

import re
from collections.abc import Iterable
from enum import StrEnum

from expctl.domain.experiment.proposal import Verdict
from expctl.imported.document import Line, Ruling
from expctl.imported.vocabulary import RULED, is_hedged


class Field(StrEnum):
    """What a labelled part tells of an experiment; OTHER are parts that tell neither what was done nor what came of it."""

    CHANGE = "change"
    RESULT = "result"
    DECISION = "decision"
    WHY = "why"
    OTHER = "other"


# The first word of a label, or its last one, by what the part tells
WORDS = {
    Field.DECISION: r"decisions?|verdict|disposition|outcome|status|ruling|conclusions?|urteil|entscheidung|结论|决定|判定",
    Field.RESULT: r"""results?|measured|measurements?|impact|effect|numbers|gain|speed-?up|delta|before|after|ergebnis\w*
    |wirkung|benchmarks?|bench|timings?|perf(?:ormance)?|结果|效果|性能""",
    Field.CHANGE: r"""hypothes[ei]s|changes?|changed|idea|tried|attempt(?:ed)?|experiment|approach|what|implementation|fix
    |solution|technique|optimi[sz]ation|method|mechanism|action|änderung|idee|versuch|假设|改动|变更|方案|实施|尝试|做法""",
    Field.WHY: r"""why|reasons?|root|cause|rationale|lessons?|learnings?|takeaways?|analysis|explanation|insights?|grund|warum
    |原因|分析|教训|根因""",
    Field.OTHER: r"""context|background|motivation|problem|goal|setup|config(?:uration)?|commands?|files?|commits?|branch|date
    |baseline|cost|correctness|gates?|tests?|validation|verification|observations?|findings?|notes?|caveats?|risks?
    |next|time
    |follow-?up|expected|predict(?:ed|ion)|actual|target|hardware|env(?:ironment)?|profile|evidence|confidence|priority|complexity|effort
    |plan|summary|tl;dr|bottleneck|scope|details?|source|see|ref(?:erence)?s?|where|when|who|limitations?|remaining|open|问题|背景|文件
    |备注|说明|目标|ziel|problemstellung""",
}  # fmt: skip
OF_WORD = re.compile("|".join(rf"(?P<{field.name}>{words})" for field, words in WORDS.items()), re.IGNORECASE | re.VERBOSE)
LABELLED = re.compile(
    r"\s*(?:>\s*)?(?:(?:[-*+]|\d+[.)])\s+)?(?:\[[ xX]\]\s+)?"
    r"(?:(?P<marks>\*\*|__|[*_])(?P<marked>[^\W\d][^*:_]{0,50}?)(?:[:.：]\s*(?P=marks)|(?P=marks)(?:\s*\([^()]{0,80}\))?\s*(?:[:：]|[-–—]+\s))"
    r"|(?:\*\*|__|[*_])?(?P<plain>[^\W\d][\w'’ /&-]{0,30}?)(?:\s*\([^()]{0,60}\))?[:：](?=\s|$))"
    r"\s*(?P<words>.*)"
)
# Words of these letters are written without a space between them.
HAN = re.compile(r"[\u4e00-\u9fff]")
LABEL_WORDS_MAX = 5
# `expert state prediction: -18 %` says what came of a thing of several words, and is no label.
THING_WORDS_MIN = 3
FIGURE = re.compile(r"[-+−~≈]?\s?\d[\d.,]*\s?[%x×]")
TOLD = frozenset((Field.CHANGE, Field.RESULT, Field.DECISION, Field.WHY))
WHOLE_MIN = 2
# `Verdict: Commit — cleaner`, and `Result: No improvement.`
COMMITS = re.compile(r"\W*(?:final )?(?:verdict|decision)\b", re.IGNORECASE)
COMMIT = re.compile(r"Commit(?P<rest>\W*|\s+[-–—]\s.*)")
NO_GAIN = re.compile(r"no (?:\w+ )?(?:improvement|gain|speed-?up|benefit)\W*", re.IGNORECASE)
# `Why it failed: ...`, which may begin any line of a text
WHY_FAILED = re.compile(
    r"^\W*why (?:it|this|that|we)? ?(?:was |were )?(?:failed|fails|rejected|reverted|abandoned|dropped|discarded|slower"
    r"|(?:did|does)(?:n.?t| not) (?:work|help))\b[^:.]{0,40}[:.*]",
    re.IGNORECASE | re.MULTILINE,
)
# A result that is none of speed
BROKEN = re.compile(
    r"\W*(?:incorrect|wrong|corrupt\w*|crash\w*|hangs?|hung|nans?|garbage|(?:does|did)(?:n.?t| not) (?:compile|build|run))\b",
    re.IGNORECASE,
)


def field_of(text: str) -> Field | None:
    """Return what a line, or an item of a list, that begins with a label tells; None where it begins with none."""
    found = LABELLED.match(text)
    label = (found["marked"] or found["plain"]) if found else ""
    words = re.findall(r"[^\W\d_][\w;-]*", label)
    if not words or len(words) > LABEL_WORDS_MAX:
        return None
    kinds = (OF_WORD.search(word) if HAN.search(word) else OF_WORD.fullmatch(word) for word in (words[0], words[-1]))
    field = next((Field[kind.lastgroup or ""] for kind in kinds if kind), None)
    thing = field is Field.OTHER and len(words) >= THING_WORDS_MIN and FIGURE.match(words_of(text))
    return None if thing else field


def words_of(text: str) -> str:
    """Return what stands behind the label of a line; "" without one."""
    found = LABELLED.match(text)
    return found["words"].strip() if found else ""


def tells_one(lines: Iterable[Line]) -> bool:
    """Return whether `lines` tell one experiment in labelled parts: two different ones at least, a result or a decision among
    them, and none that tells a change or a decision twice.
    """
    told = [field for line in lines if (field := field_of(line.text)) in TOLD]
    kinds = set(told)
    once = told.count(Field.CHANGE) <= WHOLE_MIN and told.count(Field.DECISION) <= 1
    return len(kinds) >= WHOLE_MIN and bool(kinds & {Field.RESULT, Field.DECISION}) and once


def decided_otherwise(lines: Iterable[Line], *, experiment: bool) -> Ruling | None:
    """Return what the one label in `lines` says that decides in words which elsewhere are no verdict: `Verdict: Commit — ...`,
    and, in the section of an `experiment`, `Result: No improvement.`
    """
    found = []
    for line in lines:
        words = words_of(line.text).strip("*_ ")
        commit = COMMIT.fullmatch(words) if COMMITS.match(line.text) else None
        if commit and not is_hedged(RULED + commit["rest"]):
            found.append(Ruling(verdict=Verdict.KEEP, kind=None, words=words))
        elif experiment and field_of(line.text) in (Field.RESULT, Field.DECISION) and NO_GAIN.fullmatch(words):
            found.append(Ruling(verdict=Verdict.REJECT, kind=None, words=words))
    return found[0] if len(found) == 1 else None


def is_broken(result: str) -> bool:
    """Return whether a result begins with words for a change that doesn't work, such as `Incorrect output`: that `failed` may
    mean INVALID.
    """
    return bool(BROKEN.match(result))
