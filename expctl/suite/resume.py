"""Go on with a suite that was stopped: what its two files hold, if they are of this list and environment."""

import csv
import hashlib
import io
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import msgspec

from expctl.domain.errors import Refused
from expctl.suite.cases import SuiteCase
from expctl.suite.measure import CaseTimes
from expctl.suite.results import COLUMNS, environment_json
from expctl.suite.spread import Spread

MAY_DIFFER = ("captured", "failed")


def identity(cases: Sequence[SuiteCase]) -> str:
    """Return 12 hex digits that hash what is timed: commands and shapes, in their order."""
    return hashlib.sha256(msgspec.json.encode(cases)).hexdigest()[:12]


def timed_before(
    results: Path, environment: Path, name: str, facts: Mapping[str, object], cases: Sequence[SuiteCase]
) -> tuple[CaseTimes, ...]:
    """Return those of `cases` whose times the files `results` (CSV) and `environment` (JSON) hold; () where neither is there.
    Raises Refused unless both were written under this `name`, with these `facts` but for the date, and for these cases alone.
    """
    if not results.exists() and not environment.exists():
        return ()
    try:
        found = json.loads(environment.read_bytes())
        wanted = json.loads(environment_json(name, facts, ()))
        if not isinstance(found, dict):
            raise _refusal(results, environment, name, f"{environment.name} is no JSON object")
        differ = sorted(key for key in {*found, *wanted} if found.get(key) != wanted.get(key) and key not in MAY_DIFFER)
        if differ:
            raise _refusal(results, environment, name, f"another {', '.join(differ[:3])}")
        return _rows(results.read_bytes().decode(), cases) if results.exists() else ()
    except FileNotFoundError:
        reason = f"no {environment.name} beside it"
    except (OSError, ValueError) as error:
        reason = str(getattr(error, "strerror", None) or error)
    raise _refusal(results, environment, name, reason)


def _rows(text: str, cases: Sequence[SuiteCase]) -> tuple[CaseTimes, ...]:
    """Raises ValueError for rows that aren't as `results_csv` writes them, or of something that isn't in `cases`."""
    reader = csv.DictReader(io.StringIO(text), restval="")
    if tuple(reader.fieldnames or ()) != COLUMNS:
        raise ValueError("other columns")
    found: dict[tuple[str, str], list[Spread]] = {}
    for row in reader:
        times = {key: float(row[key]) for key in ("first_us", "sd_us", "median_us", "p90_us", "p99_us")}
        one = Spread(calls=int(row["calls"]), mean_us=float(row["time_us"]), causes=row["remarks"], **times)
        found.setdefault((row["kernel"], row["shape"]), []).append(one)
    known = {(each.kernel, each.shape): each for each in cases}
    if strange := found.keys() - known.keys():
        raise ValueError(f"times of {' '.join(min(strange))}")
    return tuple(
        CaseTimes(kernel=kernel, shape=shape, moved=case.moved, repetitions=tuple(found[kernel, shape]))
        for (kernel, shape), case in known.items()
        if (kernel, shape) in found
    )


def _refusal(results: Path, environment: Path, name: str, reason: str) -> Refused:
    there = ", ".join(str(path) for path in (results, environment) if path.exists())
    return Refused(
        f"other results of {name} are there already",
        code="suite-results-exist",
        expected="a folder without them, or with those of this list, environment and commit",
        found=f"{there}: {reason}",
        hint="--out OTHER keeps them, --replace measures them again",
    )
