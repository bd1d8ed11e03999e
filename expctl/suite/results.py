"""The files of `suite run`, as `expctl compare` reads them: a CSV of all repetitions, a JSON of where they were measured."""

import csv
import io
import json
from collections.abc import Mapping, Sequence

from expctl.suite.measure import CaseTimes
from expctl.suite.model import Suite

COLUMNS = (
    "kernel", "shape", "time_us", "repetition", "calls", "warmups", "first_us", "sd_us", "median_us", "p90_us", "p99_us",
    "bytes", "gb_s", "remarks",
)  # fmt: skip


def results_csv(suite: Suite, found: Sequence[CaseTimes]) -> bytes:
    """Return CSV with a row for each repetition; `time_us` is the mean of the calls that count. Kernels and shapes of which a
    repetition failed are left out: compare reports them as missing.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for case in found:
        for number, each in enumerate(case.repetitions if not case.failed else (), 1):
            times = [each.first_us, each.sd_us, each.median_us, each.p90_us, each.p99_us]
            moved = [case.moved, _text(gb_s(case.moved, each.mean_us) or 0.0)] if case.moved is not None else ["", ""]
            cells = [case.kernel, case.shape, _text(each.mean_us), number, each.calls, suite.warmups]
            writer.writerow([*cells, *map(_text, times), *moved, each.causes])
    return stream.getvalue().encode()


def gb_s(moved: int | None, time_us: float | None) -> float | None:
    """Return 1e9 bytes a second for the bytes and the us of one call; None where one of them is unknown."""
    return moved / time_us / 1e3 if moved is not None and time_us else None


def environment_json(name: str, facts: Mapping[str, object], found: Sequence[CaseTimes]) -> bytes:
    """Return the facts of the environment `name` as JSON, with what could not be timed in it."""
    failed = {f"{each.kernel} {each.shape}": each.failed for each in found if each.failed}
    document = {"env": name, **facts, **({"failed": failed} if failed else {})}
    return (json.dumps(document, indent=1, ensure_ascii=False) + "\n").encode(errors="backslashreplace")


def _text(value: float) -> str:
    return f"{value:.7g}"
