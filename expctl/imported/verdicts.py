"""Recognise verdicts as people write them: `KEEP baseline`, `discard`, `Reverted`, `REJECT config / KEEP infra`."""

import re
import unicodedata
from enum import StrEnum

from expctl.domain.experiment.proposal import Kind, Verdict
from expctl.imported.document import Ruling
from expctl.imported.hedges import RULED, is_hedged


class Pending(StrEnum):
    """Placeholder for the verdict of an experiment that is planned or running."""

    NO_VERDICT_YET = "no verdict yet"


WHOLE_CELL = {
    **dict.fromkeys(("y", "yes", "ja", "true", "✓", "✔", "✅", "☑", "👍"), Verdict.KEEP),
    **dict.fromkeys(("n", "no", "nein", "false", "✗", "✘", "❌", "✖", "👎"), Verdict.REJECT),
}
WORDS = (
    (Verdict.REJECT, r"not (?:kept|merged|adopted|landed|accepted)|(?:don.?t|do not|did not|didn.?t) keep"),
    (Verdict.REJECT, r"nicht (?:behalten|beibehalten|übernommen|angenommen|akzeptiert)"),
    (Verdict.KEEP, r"keep|keeps|kept|keeper|accept|accepted|adopt|adopted|merged|landed|shipped|baseline"),
    (Verdict.KEEP, r"behalten|beibehalten|übernommen|angenommen|akzeptiert|ausgangsstand"),
    (
        Verdict.REJECT,
        r"reject|rejected|discard|discarded|revert|reverted|dropped|rolled back|abandoned|fail|failed|regression|regressed",
    ),
    (
        Verdict.REJECT,
        r"verworfen|abgelehnt|zurückgenommen|zurückgewiesen|rückgängig|aufgegeben|gescheitert|fehlgeschlagen|durchgefallen",
    ),
    (Verdict.INVALID, r"crash|crashed|oom|invalid|error|timeout|timed out|aborted"),
    (Verdict.INVALID, r"absturz|abgestürzt|abgebrochen|ungültig|fehler|zeitüberschreitung"),
    (Verdict.INCONCLUSIVE, r"inconclusive|undecided|unclear|neutral|mixed|tie|unentschieden|unklar"),
    (Verdict.NO_OP, r"no-?op|identical|unchanged|identisch|unverändert|wirkungslos"),
)  # fmt: skip
PATTERNS = tuple((verdict, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for verdict, words in WORDS)
MARKS = re.compile(r"[✓✔✅☑👍✗✘❌✖👎]")
PENDING = re.compile(
    r"\b(?:todo|planned|pending|running|queued|wip|in progress|next|open|blocked|tbd|geplant|läuft|offen|ausstehend)\b",
    re.IGNORECASE,
)
NO_FAULT = re.compile(r"\b(?:no|without|not a) (?:\w+ )?(?:regressions?|failures?|errors?|crash(?:es)?)\b", re.IGNORECASE)
PARTS = re.compile(r"\s*[/;+]\s*")
KINDS = (
    (Kind.ANALYSIS, re.compile(r"analy|ablation|diagnos|study", re.IGNORECASE)),
    (Kind.INFRA, re.compile(r"\binfra|tooling|harness|\bfix", re.IGNORECASE)),
    (Kind.CONFIG, re.compile(r"\bconfig|\bcfg\b|\btile\b|tuning", re.IGNORECASE)),
    (Kind.SIMPLIFY, re.compile(r"simplif|refine|clean-?up|refactor", re.IGNORECASE)),
)


def rulings(text: str) -> tuple[Ruling, ...] | Pending | None:
    """Return the verdict that the cell `text` states, or two for `REJECT config / KEEP infra`. Returns Pending if the
    experiment isn't finished, and None if the verdict is uncertain, contradictory or not recognised.
    """
    plain = _plain(text)
    found, recognised = _verdicts(plain)
    if found and is_hedged(recognised):
        return None
    if len(found) == 1:
        return (_ruling(found.pop(), plain),)
    if not found:
        return Pending.NO_VERDICT_YET if PENDING.search(plain) or not plain.strip("-–—? ") else None
    parts = [part for part in PARTS.split(plain) if part]
    each = [_verdicts(part)[0] for part in parts]
    if len(parts) == 2 and all(len(verdicts) == 1 for verdicts in each) and all(map(_starts_with_verdict, parts)):
        return tuple(_ruling(verdicts.pop(), part) for verdicts, part in zip(each, parts, strict=True))
    return None


def speaks_of_verdicts(text: str) -> bool:
    """Return whether a cell may belong to a verdict column, even if its verdict is uncertain or contradictory."""
    plain = _plain(text)
    return len(text) <= 60 and (bool(_verdicts(plain)[0]) or (PENDING.search(plain) is not None))


def _plain(text: str) -> str:
    return NO_FAULT.sub("", unicodedata.normalize("NFC", text).replace("*", "").replace("`", "")).strip()


def _verdicts(text: str) -> tuple[set[Verdict], str]:
    """Return the set of verdicts named in `text`, and the text with the placeholder RULED for each word that names one."""
    whole = WHOLE_CELL.get(text.lower())
    if whole:
        return {whole}, RULED
    found: set[Verdict] = {WHOLE_CELL[mark] for mark in MARKS.findall(text)}
    rest = MARKS.sub(RULED, text)
    for verdict, pattern in PATTERNS:
        rest, times = pattern.subn(RULED, rest)
        if times:
            found.add(verdict)
    return found, rest


def _starts_with_verdict(part: str) -> bool:
    return any(pattern.match(part) for _, pattern in PATTERNS) or bool(MARKS.match(part))


def _ruling(verdict: Verdict, words: str) -> Ruling:
    kind = next((kind for kind, pattern in KINDS if pattern.search(words)), None)
    return Ruling(verdict=verdict, kind=kind, words=words)
