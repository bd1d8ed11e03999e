"""Accounts for tests of the page: made-up experiments from a seed, with rounds and times, and the page that shows them."""

import random
from collections.abc import Sequence

from msgspec.structs import replace

from benchmarks.scale.history import records, samples_like
from expctl.domain.experiment.finding import Finding
from expctl.domain.experiment.proposal import Mode
from expctl.domain.experiment.record import BenchmarkIdentity, Fact, Record
from expctl.domain.history.epochs import epochs_of
from expctl.domain.ledger.account import Account, Part, account_of
from expctl.domain.ledger.model import ledger_of
from expctl.domain.ledger.record_summary import summary_of
from expctl.domain.ledger.totals import sums_of
from expctl.domain.protocol.model import Benchmark, Build, NumberKind, Protocol, Size, Style, Target, Toolchain
from expctl.domain.verdict.plan import Plan
from expctl.domain.verdict.plot_data import Caption, Picture, picture_of
from expctl.domain.verdict.samples import Sample, round_effects
from expctl.domain.verdict.spread import spreads_of

PATCH = "--- a/src/total.py\n+++ b/src/total.py\n@@ -1,2 +1,2 @@\n def total(values):\n-    result = 0\n+    result = 0.0\n"


def benchmark(*sizes: str) -> Benchmark:
    weights = [Size(name=name, weight=1 / len(sizes)) for name in sizes]
    return Benchmark(argv=("b",), timeout_s=60, sizes=tuple(weights), style=Style.LAUNCH, rounds=46)


def target(*sizes: str) -> Target:
    built = Build(toolchain=Toolchain.COMMAND, argv=("cc",), artifact="a")
    return Target(build=built, number_kind=NumberKind.WALL_TIME, benchmark=benchmark(*sizes))


PROTOCOL = Protocol(
    version=1,
    name="sums of squares",
    goal="faster",
    scope=("src",),
    harness=("bench",),
    decides=("here", "gpu"),
    targets={"here": target("n=8000", "n=2000"), "gpu": target("n=512", "n=384")},
)


def some_records(count: int, seed: int) -> list[Record]:
    yardsticks = {name: BenchmarkIdentity(harness="1" * 64, kpi=f"kpi of {name}", build="cc") for name in PROTOCOL.decides}
    return list(records(count, seed, yardsticks=yardsticks, protocol="0" * 64))


def account(found: Sequence[Record], findings: Sequence[Finding] = (), since: Sequence[str] = ()) -> Account:
    summaries = [summary_of(each) for each in found]
    ledger = ledger_of(PROTOCOL, [], found, findings)
    rules = sums_of(summaries).rules
    return account_of(ledger, summaries, found, rules, head="4f2c91ab" * 5, branch="main", since=since)


def part(record: Record, found: Sequence[Record], patch: str = PATCH) -> Part:
    samples = samples_like(record, random.Random(record.id)) if record.estimates else ()
    profile = {side: (Fact(name="instructions", value=value),) for side, value in (("baseline", 55.0), ("candidate", 37.0))}
    return Part(
        record=record,
        epoch=epochs_of(found).of.get(record.id),
        picture=_picture(record, samples) if samples else None,
        spreads=spreads_of(samples) if samples else (),
        missing="",
        profile=profile if record.estimates else {},
        patch=patch,
    )


def _picture(record: Record, samples: Sequence[Sample]) -> Picture:
    measured = PROTOCOL.targets[record.target].benchmark
    assert measured is not None
    plan = Plan.of(measured, PROTOCOL.keep, record.procedure.mode if record.procedure else Mode.GAIN)
    caption = Caption(id=record.id, title=record.title, target=record.target, outcome=record.verdict, reason=record.reasons[0])
    estimate = record.estimates[0] if record.estimates else None
    return picture_of(round_effects(samples), plan, caption, sequential=True, estimate=estimate)


def parts(shown: Account, found: Sequence[Record], patch: str = PATCH) -> list[Part]:
    by_id = {each.id: each for each in found}
    return [part(by_id[row.id], found, patch) for row in shown.rows]


def retitled(record: Record, title: str) -> Record:
    return replace(record, title=title, reasons=(title,), hypothesis=title, explanation=title)
