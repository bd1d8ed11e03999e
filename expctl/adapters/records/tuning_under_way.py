"""How far an unfinished tuning is, by the lines of its journal: counted, not decoded, so that looking takes little time."""

from pathlib import Path

from expctl.domain.tuning.name import TUNE
from expctl.domain.verdict.under_way import UnderWay


def tuning_under_way(state: Path) -> UnderWay | None:
    """Return the newest tuning below `state`; None if there is none, or nothing of it on disk yet."""
    journals = sorted((state / TUNE).glob("*.jsonl"), key=lambda file: file.stat().st_mtime_ns)
    if not journals:
        return None
    text = journals[-1].read_bytes()
    screened, rounds = (text.count(b'"type":"%b"' % kind) for kind in (b"Screened", b"Shot"))
    said = f"buckets screened: {screened}, rounds of finalists: {rounds}"
    return UnderWay(id=TUNE, title=said, target=journals[-1].stem.rpartition("-")[0], since="")
