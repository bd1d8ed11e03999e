"""The screen of each bucket: a few launches in which all configs take turns with the current one."""

import math
import secrets
import statistics
from collections.abc import Sequence

from expctl.domain.patch.sweep import Combination
from expctl.domain.tuning.benchmark import config_of, now, screening
from expctl.domain.tuning.contest import Bucket
from expctl.domain.tuning.events import Screened
from expctl.domain.tuning.screen import CONTROL, Launch, finalists, scores
from expctl.domain.verdict.samples import Sample
from expctl.flow.tuning.session import Session
from expctl.ports.proposers import Search
from expctl.tables.operations import TILE, config_text, settings_of

TOGETHER = 32  # sizes of one worker, at most: each has operands of its own


def screen(session: Session, buckets: Sequence[Bucket], configs: Sequence[str]) -> dict[str, list[str]]:
    """Return the finalists of each bucket, by its key, the best first; [] where nothing may be better than what is there."""
    known = {event.bucket: event for event in session.all(Screened)}
    missing = [bucket for bucket in buckets if bucket.key not in known]
    if missing:
        clock, started = session.setup.context.clock, session.setup.context.clock.monotonic_s()
        with session.measuring():
            for number, bucket in enumerate(missing, start=1):
                known[bucket.key] = _screened(session, bucket, configs)
                session.add(known[bucket.key])
                session.setup.context.progress.advance("screen bucket", number, len(missing))
        session.told("screen", f"{len(missing)} buckets, {len(configs)} configs", clock.monotonic_s() - started)
    return {
        bucket.key: finalists([_without(each, known[bucket.key].now) for each in known[bucket.key].launches])
        for bucket in buckets
    }


def _without(launch: Launch, config: str) -> Launch:
    """Return a launch without a config: the one that the bucket has, which is the control itself."""
    return {name: value for name, value in launch.items() if name != config}


def _screened(session: Session, bucket: Bucket, configs: Sequence[str]) -> Screened:
    """Screen as many configs at once as the search gives without being told a score."""
    standing: set[str] = set()
    search = session.search(session.rule, [_combination(config) for config in configs])
    found: list[dict[str, float]] = []
    gains: dict[str, float] = {}
    while asked := _asked(search):
        if new := [config for config in asked if config not in gains]:
            launches = _launch_all(session, bucket, new, standing)
            gains |= {each.config: each.gain for each in scores(launches)}
            found = found or [{CONTROL: 0.0} for _ in launches]
            for whole, part in zip(found, launches, strict=True):
                whole |= {config: part[config] - part[CONTROL] for config in new}
        for config in asked:
            search.tell(gains[config])
    current = standing.pop() if len(standing) == 1 else ""
    return Screened(bucket=bucket.key, launches=tuple(found) or ({CONTROL: 0.0},), now=current)


def _asked(search: Search) -> list[str]:
    """Return what to screen next: one config of a search that learns from its score, else all."""
    asked: list[str] = []
    while not (search.learns and asked):
        combination = search.ask()
        if combination is None:
            break
        config = config_text(combination)
        if config not in asked:
            asked.append(config)
    return asked


def _combination(config: str) -> Combination:
    return {name: str(value) for name, value in settings_of(config, TILE).items()}


def _launch_all(session: Session, bucket: Bucket, configs: Sequence[str], standing: set[str]) -> list[Launch]:
    """Time configs beside the current one, in groups that fit one worker; ln t is the mean over the bucket's shapes. `standing`
    gets the config that each shape has now, as far as the benchmark says.
    """
    group = max(1, TOGETHER // len(bucket.shapes) - 1)
    found: list[dict[str, float]] = []
    for start in range(0, len(configs), group):
        part = configs[start : start + group]
        names = [f"{shape}@{config}" for shape in bucket.shapes for config in part] + [now(shape) for shape in bucket.shapes]
        secrets.SystemRandom().shuffle(names)
        timed = session.round(screening(session.setup.benchmark, session.rule, names), 0)
        samples = [each for each in timed if not each.taints]
        standing |= {config_of(samples[0].config, now(shape)) for shape in bucket.shapes}
        launches = [_ln_times(samples, launch, bucket, part) for launch in sorted({each.launch for each in samples})]
        if not found:
            found = [{CONTROL: 0.0} for _ in launches]
        for whole, one in zip(found, launches, strict=True):
            whole |= {config: one[config] - one[CONTROL] for config in part}
    return list(found)


def _ln_times(samples: Sequence[Sample], launch: int, bucket: Bucket, configs: Sequence[str]) -> dict[str, float]:
    times = {each.size: math.log(statistics.median(each.ns)) for each in samples if each.launch == launch}
    controls = {CONTROL: [now(shape) for shape in bucket.shapes]}
    names = {config: [f"{shape}@{config}" for shape in bucket.shapes] for config in configs} | controls
    return {config: math.fsum(times[each] for each in named) / len(named) for config, named in names.items()}
