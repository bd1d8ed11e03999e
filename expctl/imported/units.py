"""Units of figures in a hand-kept ledger, which direction of them is better, and what part a figure plays in its sentence."""

import re
from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum


class Better(StrEnum):
    """Which direction of a metric is better."""

    HIGHER = "higher"
    LOWER = "lower"


class Part(StrEnum):
    """What a figure is: a result, the figure before the change, a difference (`-7 ms`), a bound (`floor of 3 ms`) or a share
    (`64 % of the peak`).
    """

    RESULT = "result"
    BEFORE = "before"
    DIFFERENCE = "difference"
    BOUND = "bound"
    SHARE = "share"


PER_SECOND = (
    r"(?:tok(?:en)?s?|t|it|iters?|req|requests|ops?|img|images|samples|steps|rows|keys|docs|frames|[kKMGT]i?[bB])"
    r"\s?/\s?s(?:ec)?"
)
RATE = rf"(?:{PER_SECOND}|(?:ns|us|µs|μs|ms|s)/[a-zA-Z]+|[tfqrn]ps|FPS|TPS|QPS|RPS|NPS|cycles)"
HIGHER = re.compile(rf"{PER_SECOND}|[tfqrn]ps", re.IGNORECASE)
LOWER = re.compile(r"(?:ns|us|µs|μs|ms|s)/[a-z]+|cycles", re.IGNORECASE)
HEAD_RATE = re.compile(
    r"(?<![a-z])((?:tok(?:en)?s?|it|iters?|req|requests|ops?|img|images|samples|steps|rows|frames|[kmgt]i?b)\s?[/_]\s?s(?:ec)?"
    r"|[tfqrn]ps|cycles)(?![a-z])",
    re.IGNORECASE,
)
HEAD_PER = re.compile(r"([a-z]+)[ _]per[ _](s(?:ec(?:onds?)?)?)(?![a-z])", re.IGNORECASE)
HEAD_BOUND = re.compile(
    r"expect|prior\b|predict|target|goal|floor|bound|limit|budget|ceiling|roofline|theor|std|dev\b|\bsd\b|σ|±|noise|spread|error",
    re.IGNORECASE,
)
HEAD_BEFORE = re.compile(r"before|baseline|reference|previous|\bold\b|\bprev\b|\bbase\b", re.IGNORECASE)
HEAD_DIFFERENCE = re.compile(
    r"Δ|δ|\bdelta|\bdiff|change|gain|saved|improve|speed-?up|\bvs\b|regress|effect|impact", re.IGNORECASE
)
BOUND_BEFORE = re.compile(
    r"(?:\b(?:floor|limit|budget|target|ceiling|peak|roofline|bound|cap|at least|at most|goal|deadline|threshold|gate|needs?"
    r"|needed|theoretical|expect(?:ed)?|predict(?:ed|ion)?|under|below|above|over|up to)\b\W*(?:\w+\W+){0,2}|[<>≤≥]\s*)$",
    re.IGNORECASE,
)
BOUND_AFTER = re.compile(
    r"\s*(?:\w+ )?(?:floor|limit|budget|target|ceiling|peak|bound|cap|deadline|threshold|gate|goal)\b", re.IGNORECASE
)
DIFFERENCE_BEFORE = re.compile(
    r"\b(?:sav(?:es?|ed|ing)|by|gain(?:s|ed)?|costs?|costing|adds?|added|overhead|delta|diff(?:erence)?|shav(?:es?|ed)|of)\W*(?:of\W*)?$"
    r"|[ΔδΔ]\W*$",
    re.IGNORECASE,
)
DIFFERENCE_AFTER = re.compile(
    r"\s*(?:\w+ )?(?:faster|slower|saved|less|more|longer|shorter|overhead|improvement|gain|regression|penalty|better|worse"
    r"|win|loss|saving|drop|increase|decrease|reduction)\b",
    re.IGNORECASE,
)
BEFORE_BEFORE = re.compile(
    r"\b(?:was|from|vs\.?|versus|against|compared (?:to|with)|than|baseline(?: of)?|before|prior|previously|old)\W*$",
    re.IGNORECASE,
)
BEFORE_AFTER = re.compile(r"\s*(?:→|->|=>|to\b)\W{0,3}\d")
# Ends of clauses, which bound what a word speaks of
BREAK = re.compile(r"[,;|]\s|[.:]\s|\s[-–—]+\s|[()]")
SHAPE = re.compile(
    r"\b(?:b|bs|batch|seq|seq_?len|ctx|context|qlen|heads|dim|threads?|workers?|concurrency|dpi|size|tokens|slots?)\s?[=:]?\s?\d+[kK]?\b"
    r"|(?<![\d.])\d+[kK]\b(?=\s*(?:ctx|context|tok|prompt|first|\())|(?<=at )\d+[kK]\b|\b\d+\s?[x×]\s?\d+(?:\s?[x×]\s?\d+)?\b",
    re.IGNORECASE | re.ASCII,
)
METRIC = re.compile(
    r"\b(?:decode|prefill|p50|p90|p95|p99|ttft|tpot|median|mean|min|max|avg|average|cold|warm|hot|first|compile|build|total|load"
    r"|isolated|e2e|end-to-end|cpu|gpu|host|device|kernel|profile|wall|peak|native|wasm|forward|backward|read|write|encode|short"
    r"|long|single|multi|train|val|test|\w*bench\w*)\b",
    re.IGNORECASE,
)


# Metrics of which everybody knows what is better, by the last word of a head that isn't a number
METRICS = {
    **dict.fromkeys(("loss", "bpb", "bpc", "ppl", "perplexity", "fid", "latency", "rmse", "mse", "wer"), Better.LOWER),
    **dict.fromkeys(("accuracy", "acc", "bleu", "elo", "nps", "fps", "gflops", "throughput"), Better.HIGHER),
}


def well_known(heads: Iterable[str]) -> dict[str, Better]:
    """Return which direction of the metrics below `heads` is better, by name, where it is known: `val_bpb`, `Test accuracy`."""
    last = ((head, (re.findall(r"[a-z]+", head.lower()) or [""])[-1]) for head in heads)
    return {name_of(head): METRICS[word] for head, word in last if word in METRICS}


def name_of(unit: str) -> str:
    """Return a unit as it is compared: `tok/s`, `Tok_s` and `tokens / s` are one."""
    plain = re.sub(r"[^a-zµμ%]", "", unit.lower().replace("sec", "s"))
    return re.sub(r"^tok(?:en)?s?s$", "toks", plain)


def direction(unit: str, known: Mapping[str, Better]) -> Better | None:
    """Return which direction of a rate or count in `unit` is better; None if neither the user (`known`, by name) nor the unit
    says so.
    """
    if unit in known:
        return known[unit]
    if unit in {
        name_of(each) for each in ("tok/s", "t/s", "it/s", "req/s", "ops/s", "img/s", "samples/s", "steps/s", "frames/s")
    }:
        return Better.HIGHER
    if re.fullmatch(r"[tfqrn]ps|[kmgt]i?bs|\w+s", unit) and not re.fullmatch(r"cycles|(?:n|u|µ|μ|m)?s\w*", unit):
        return Better.HIGHER
    return Better.LOWER if re.fullmatch(r"cycles|(?:n|u|µ|μ|m)?s[a-z]+", unit) else None


def unit_of_head(head: str, known: Mapping[str, Better]) -> str:
    """Return the unit of a rate that a column head names, or the head itself where the user said which direction is better."""
    if name_of(head) in known:
        return head
    found = HEAD_RATE.search(head)
    per = HEAD_PER.search(head)
    return found[1] if found else f"{per[1]}/{per[2][0]}" if per else ""


def part_of_head(head: str) -> Part:
    """Return what the figures below a head are."""
    if HEAD_BOUND.search(head):
        return Part.BOUND
    if HEAD_BEFORE.search(head) and not HEAD_DIFFERENCE.search(head):
        return Part.BEFORE
    return Part.DIFFERENCE if HEAD_DIFFERENCE.search(head) else Part.SHARE if "%" in head else Part.RESULT


def part_of(text: str, start: int, end: int, *, signed: bool) -> Part:
    """Return what the figure at text[start:end] is, by its sign and by the words around it."""
    percent = text[:end].endswith(("%", "percent"))
    before, after = clause_before(text, start), text[end : end + 30]
    if BOUND_BEFORE.search(before) or BOUND_AFTER.match(after):
        return Part.BOUND
    if signed and not re.search(r"[\d%]\s*[-–−]\s*$", text[:start]):
        return Part.DIFFERENCE
    if DIFFERENCE_AFTER.match(after) or (DIFFERENCE_BEFORE.search(before) and not before.rstrip().endswith(" of")):
        return Part.DIFFERENCE
    if percent:
        near = before + re.split(r"[,;()]", after)[0]
        said = re.search(r"faster|slower|regress|gain|improv|better|worse|drop|rose|fell|only|delta|headroom", near)
        return Part.DIFFERENCE if said else Part.SHARE
    if BEFORE_AFTER.match(after) or BEFORE_BEFORE.search(before):
        return Part.BEFORE
    return Part.RESULT


def shapes_in(text: str) -> Sequence[tuple[int, str]]:
    """Return the shapes that a text names, e.g. `b=128` or `4k`, each with its place."""
    return [(found.start(), re.sub(r"[\s=:]", "", found[0].lower())) for found in SHAPE.finditer(text)]


def metric_before(text: str, at: int) -> str:
    """Return the words of the clause before text[at] that say which metric a figure is, e.g. `decode p95`."""
    return " ".join(sorted({word.lower() for word in METRIC.findall(clause_before(text, at, 60))}))


def clause_before(text: str, at: int, length: int = 28) -> str:
    """Return the part of text[:at] that lies in the same clause, at most `length` characters of it."""
    before = text[max(0, at - length) : at]
    ends = [found.end() for found in BREAK.finditer(before)]
    return before[ends[-1] :] if ends else before
