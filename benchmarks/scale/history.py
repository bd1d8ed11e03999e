"""Made-up experiments that look like measured ones: a history of any length from a seed, with all that a record can hold."""

import hashlib
import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from msgspec.structs import replace

from expctl.domain.experiment.history import History
from expctl.domain.experiment.proposal import Kind, Mode, Prediction, Verdict
from expctl.domain.experiment.record import (
    SCHEMA,
    Artifact,
    BenchmarkIdentity,
    ChangedCondition,
    Estimate,
    Fact,
    Origin,
    Procedure,
    Record,
    Replication,
    Rule,
    Test,
    Waiver,
)
from expctl.domain.protocol.model import NumberKind, Style
from expctl.domain.verdict.samples import Sample, Session, Side

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MINUTES = 37  # between two experiments
IMPORTED_SHARE = 0.1  # of all, the oldest
COMPILERS = ("0.13.0", "0.14.1", "0.15.2", "0.16.0")  # four stretches of equal length, each an epoch
OUTCOMES = {
    Verdict.KEEP: 0.14,
    Verdict.REJECT: 0.599,
    Verdict.INCONCLUSIVE: 0.17,
    Verdict.NO_OP: 0.09,
    Verdict.INVALID: 0.001,
}
DOES = ("Unroll", "Hoist", "Fuse", "Split", "Reorder", "Widen", "Drop", "Swizzle", "Prefetch", "Vectorise")
WHAT = ("the inner loop", "loads of A", "the fp8 decode", "stores of C", "the edge tile", "barriers", "`k_slice`", "row_offset")
HOW = ("by two", "across waves", "into registers", "before the wait", "in pairs [2, 4]", "for n < 512", "with one mask")
WHY = ("fewer LDS passes", "less register pressure", "shorter dependency chains", "no bank conflict", "fewer instructions")
SIZES = {"here": ("n=8000", "n=2000"), "gpu": ("n=512", "n=384")}  # as in the protocol that generate.py writes
FACTS = ("vgpr", "sgpr", "lds", "scratch", "vgpr_spills", "sgpr_spills", "occupancy", "code")


@dataclass(slots=True)
class Branch:
    """What stands while the history is written: the baseline commit, its artifacts, the rules left so far."""

    draw: random.Random
    yardsticks: Mapping[str, BenchmarkIdentity]
    protocol: str
    base: str = ""
    built: Mapping[str, Artifact] | None = None
    rules: list[str] | None = None


def records(count: int, seed: int, *, yardsticks: Mapping[str, BenchmarkIdentity], protocol: str) -> Iterator[Record]:
    """`count` records, P1 the oldest. `yardsticks` of the two targets that decide, and the identity of protocol and harness."""
    draw = random.Random(seed)  # noqa: S311  a history that a seed gives again
    branch = Branch(draw=draw, yardsticks=yardsticks, protocol=protocol, base=_hex(draw), built=_built(draw), rules=[])
    imported = int(count * IMPORTED_SHARE)
    for number in range(1, count + 1):
        if number <= imported:
            yield _imported(branch, number)
        else:
            yield _measured(branch, number, (number - imported - 1) / (count - imported))


def samples_like(record: Record, draw: random.Random) -> tuple[Sample, ...]:
    """Return samples of a timed record: 14 rounds of a search and 18 of a confirmation about its effect, with slow tails."""
    found = []
    gains = {each.size: each.effect_percent / 100 for each in record.estimates}
    for number in range(32):
        order = draw.choice(("ABBA", "BAAB"))
        for each in record.estimates[1:]:
            drift = draw.gauss(0, 0.006)
            for launch in range(4):
                side = Side.BASELINE if order[launch] == "A" else Side.CANDIDATE
                middle = each.baseline_ns * (1 + drift) / (1 + gains[each.size] if side is Side.CANDIDATE else 1)
                ns = tuple(
                    round(middle * (1 + abs(draw.gauss(0, 0.01)) + (draw.random() < 0.01) * draw.uniform(0.1, 0.9)))
                    for _ in range(20)
                )
                found.append(
                    Sample(
                        round=number,
                        launch=launch,
                        side=side,
                        size=each.size,
                        style=Style.LAUNCH,
                        visit=0,
                        ns=ns,
                        order=order,
                        session=Session.SEARCH if number < 14 else Session.CONFIRM,
                    )
                )
    return tuple(found)


def title_of(draw: random.Random) -> str:
    """A few words of a proposer."""
    return f"{draw.choice(DOES)} {draw.choice(WHAT)} {draw.choice(HOW)}"


def _imported(branch: Branch, number: int) -> Record:
    draw = branch.draw
    verdict = Verdict.KEEP if draw.random() < 0.3 else Verdict.REJECT
    title = title_of(draw)
    flawed = ("The baseline raced: this verdict proves nothing.",) if draw.random() < 0.2 else ()
    rule = Rule(
        text=f"{title}: slower by hand",
        conditions={"architecture": "gfx1151", "baseline": f"P{max(1, number - 3)}"},
        lapsed=(ChangedCondition(condition="baseline free of races", was="unknown", now="yes", evidence="a test"),)
        if flawed
        else (),
        reopened_by="race-free baseline" if flawed else "",
    )
    return Record(
        id=f"P{number}",
        title=title,
        kind=draw.choice((Kind.PERF, Kind.SIMPLIFY, Kind.CONFIG)),
        origin=Origin.IMPORTED,
        target="gpu",
        verdict=verdict,
        reasons=("imported, decided by hand",),
        date=(BEGIN - timedelta(days=400 - number % 300)).strftime("%Y-%m-%d"),
        number_kind=NumberKind.DEVICE_TIME,
        notes=("Time and throughput were copied from two runs.",) if draw.random() < 0.1 else (),
        rule=rule if verdict is Verdict.REJECT else None,
        history=History(
            change=title,
            result=f"n=8192 {draw.uniform(24, 27):.3f} ms | {draw.uniform(40, 46):.2f}k GFLOPS",
            why=f"{draw.choice(WHY)}, as hoped" if verdict is Verdict.KEEP else f"no gain from {draw.choice(WHY)}",
            corrections=flawed,
        ),
    )


def _measured(branch: Branch, number: int, done: float) -> Record:
    """The `number`-th experiment, after a share of `done` of all measured ones."""
    draw = branch.draw
    verdict = draw.choices(list(OUTCOMES), list(OUTCOMES.values()))[0]
    kind, mode = draw.choices(
        ((Kind.PERF, Mode.GAIN), (Kind.SIMPLIFY, Mode.SIMPLIFY), (Kind.CONFIG, Mode.GAIN), (Kind.ANALYSIS, Mode.GAIN)),
        (0.7, 0.15, 0.13, 0.02),
    )[0]
    timed = verdict not in (Verdict.NO_OP, Verdict.INVALID) and not (verdict is Verdict.REJECT and draw.random() < 0.2)
    gain = {Verdict.KEEP: draw.uniform(0.6, 8), Verdict.REJECT: draw.uniform(-20, -0.4)}.get(verdict, draw.uniform(-0.4, 0.4))
    title, candidate, low = title_of(draw), _hex(draw), round(draw.uniform(-1, 3), 1)
    target = "gpu" if draw.random() < 0.15 else "here"
    built = branch.built if verdict is Verdict.NO_OP else _built(draw)
    environment = {
        "cpu": "Example CPU @ 2.50GHz",
        "vector": "avx512f",
        "cores": "8",
        "os": "Linux 6.18",
        "machine": "0123456789ab",
        "cc": COMPILERS[int(done * len(COMPILERS))],
    }
    record = Record(
        schema=SCHEMA,
        id=f"P{number}",
        title=title,
        kind=kind,
        origin=Origin.MEASURED,
        target=target,
        verdict=verdict,
        reasons=(_reason(verdict, gain, timed),),
        hypothesis=f"{title} gives {draw.choice(WHY)}, which is what limits the loop at n=512.",
        prediction=Prediction(verdict=Verdict.KEEP, gain_percent=(low, low + 2), text=draw.choice(WHY)),
        base=branch.base,
        candidate=candidate,
        tree=_hex(draw),
        protocol=branch.protocol,
        patch_id=_hex(draw),
        content=_hex(draw, 64),
        date=(BEGIN + timedelta(minutes=MINUTES * number)).strftime("%Y-%m-%dT%H:%M:%SZ"),
        artifacts={"baseline": branch.built or {}, "candidate": built or {}},
        environment=environment,
        test=Test(ok=True, cases=118, summary=f"118 cases pass, worst rel_l2 {draw.uniform(1e-4, 9e-4):.7f}, launches 3"),
        estimates=_estimates(draw, gain, target) if timed else (),
        profile=tuple(f"hot loop {name} = {draw.randrange(200)} instructions" for name in ("loads", "stores", "multiply-adds")),
        explanation=f"{draw.choice(WHY)} in the hot loop" if verdict is Verdict.KEEP else "",
        notes=("gpu: unavailable: no device /dev/example0",) if draw.random() < 0.8 else (),
        procedure=Procedure(boundaries="3", mode=mode, looks=(10, 14), search_rounds=14, confirm_rounds=21) if timed else None,
        samples_sha256=_hex(draw, 64) if timed else "",
    )
    record = replace(record, yardstick=branch.yardsticks[record.target])
    return _consequences(branch, record)


def _consequences(branch: Branch, record: Record) -> Record:
    """What a verdict leaves behind: a new baseline, a debt at home, a rule, a waiver, a replication."""
    draw, rules = branch.draw, branch.rules if branch.rules is not None else []
    if rules and draw.random() < 0.01:
        waiver = Waiver(rule=draw.choice(rules), level="normalised change", reason="the tiles are wider now", written=True)
        record = replace(record, waivers=(waiver,))
    if record.estimates and draw.random() < 0.02:
        again = Replication(
            target=record.target,
            date=record.date,
            verdict=record.verdict,
            reasons=record.reasons,
            estimates=_estimates(draw, record.estimates[0].effect_percent, record.target),
            environment=record.environment,
            yardstick=record.yardstick,
        )
        record = replace(record, replications=(again,))
    if record.verdict is Verdict.KEEP and record.kind is not Kind.ANALYSIS:
        branch.base, branch.built = record.candidate, record.artifacts["candidate"]
        if draw.random() < 0.05:
            record = replace(record, flags=("unmeasured at home: the gpu code changed; expctl run it on gpu settles it",))
    if record.verdict is Verdict.REJECT:
        rules.append(record.id)
        record = replace(record, rule=_rule(draw, record))
    return record


def _rule(draw: random.Random, record: Record) -> Rule:
    settings = {"tile": str(draw.choice((16, 32, 64))), "unroll": str(draw.randrange(1, 9))} if draw.random() < 0.1 else {}
    return Rule(
        text=f"{record.title}: {record.reasons[0]}",
        patch_id=record.patch_id,
        change=_hex(draw),
        judged=record.target,
        settings=settings,
        forbids=(r"volatile\s+int\s+spin",) if draw.random() < 0.002 else (),
        conditions={"target": record.target, "baseline": record.base[:12], "cc": record.environment["cc"]},
        region={"src/total.py": (_hex(draw, 16), _hex(draw, 16))},
        shapes={"src/total.py": _hex(draw, 16)} if settings else {},
    )


def _reason(verdict: Verdict, gain: float, timed: bool) -> str:
    interval = f"{gain:+.2f} % [{gain - 0.35:+.2f}, {gain + 0.35:+.2f}]"
    if verdict is Verdict.REJECT and not timed:
        return "does not build for here: src/total.py:7:27: error: no viable overloaded '='; nothing was timed"
    return {
        Verdict.KEEP: f"objective {interval}: gain beyond noise; no size regresses",
        Verdict.REJECT: f"n=512 regresses: {interval}",
        Verdict.INCONCLUSIVE: f"objective {interval} after 46 rounds: undecided; about {60 + int(abs(gain) * 90)} decide",
        Verdict.NO_OP: "the same code sections as the baseline on here; nothing was timed",
        Verdict.INVALID: "the harness failed: worker died",
    }[verdict]


def _estimates(draw: random.Random, gain: float, target: str) -> tuple[Estimate, ...]:
    whole = Estimate(
        size="objective",
        effect_percent=round(gain, 4),
        low_percent=round(gain - draw.uniform(0.1, 0.5), 4),
        high_percent=round(gain + draw.uniform(0.1, 0.5), 4),
        sd_percent=round(draw.uniform(0.3, 1.5), 4),
        rounds=draw.choice((10, 14, 20, 46)),
    )
    sizes = []
    for name, flop in zip(SIZES[target], (2 * 512**3, 2 * 384**3), strict=True):
        baseline = round(flop / draw.uniform(80, 95))
        sizes.append(
            replace(
                whole, size=name, baseline_ns=float(baseline), candidate_ns=round(baseline * (1 - gain / 100), 1), flop=flop
            )
        )
    return (whole, *sizes)


def _built(draw: random.Random) -> dict[str, Artifact]:
    """The artifacts of one commit: of the target that is timed, and of a guard with what its compiler says."""
    values = (draw.randrange(64, 256), 81, 16512, 0, 0, 0, 8, draw.randrange(20000, 30000))
    facts = tuple(Fact(name=name, value=float(value), unit="") for name, value in zip(FACTS, values, strict=True))
    size = Fact(name="library_bytes", value=float(draw.randrange(700_000, 800_000)), unit="B")
    return {
        "here": Artifact(sha256=_hex(draw, 64), code=_hex(draw, 64), facts=(size,)),
        "gpu-static": Artifact(sha256=_hex(draw, 64), code=_hex(draw, 64), facts=facts),
    }


def _hex(draw: random.Random, digits: int = 40) -> str:
    return hashlib.sha256(draw.randbytes(8)).hexdigest()[:digits]
