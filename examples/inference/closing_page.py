"""What the records of this example say, as Markdown: the ladder, its gains, the classes of time, what was not worth it."""

import re
from pathlib import Path

from expctl.adapters.codec.record_codec import profile_of, record_of
from expctl.adapters.records.proposal_file import proposal_of
from expctl.domain.experiment.proposal import Verdict

SHARE_OF = "share of "


def page(folder: Path) -> str:
    """Return the page on the experiments in `folder`; every figure is a record's."""
    proposals = sorted((folder / "experiments").glob("P*"), key=lambda each: int(re.sub(r"\D", "", each.name)))
    records, shares, titles = {}, {}, {}
    for each in proposals:
        titles[each.name] = proposal_of((each / "experiment.yaml").read_bytes(), f"experiments/{each.name}").title
        if (each / "record.json").exists():
            records[each.name] = record_of((each / "record.json").read_bytes(), where=f"{each.name}/record.json")
        if (each / "profile.json").exists():
            sides = profile_of((each / "profile.json").read_bytes(), where=f"{each.name}/profile.json")
            shares[each.name] = {side: _shares(facts) for side, facts in sides.items()}
    if not records:
        return "No experiment has a record yet: `python examples/inference/ladder.py all FOLDER` makes them.\n"
    kept = [name for name, record in records.items() if record.verdict is Verdict.KEEP]
    order = sorted(kept, key=lambda name: (records[name].date, int(name[1:])))
    parts = [
        _ladder(order, records),
        _latencies(order, records),
        _classes([name for name in order if name in shares], shares),
        _not_worth_it([name for name in records if name not in kept], records),
        _unmeasured([name for name in titles if name not in records], titles),
    ]
    return "\n".join(part for part in parts if part)


def _ladder(order, records) -> str:
    lines = [
        "## The ladder",
        "",
        "| rung | what | gain of the weighted mean, % | 95 % interval | target |",
        "|---|---|--:|---|---|",
    ]
    for name in order:
        record = records[name]
        gain = next(each for each in record.estimates if each.size == "objective")
        interval = f"{gain.low_percent:+.2f} to {gain.high_percent:+.2f}"
        lines.append(f"| {name} | {record.title} | {gain.effect_percent:+.2f} | {interval} | {record.target} |")
    return "\n".join([*lines, ""]) if order else "## The ladder\n\nNothing was kept.\n"


def _latencies(order, records) -> str:
    """Return the medians and 99th percentiles before the first rung and after the last."""
    if not order:
        return ""
    first, last = records[order[0]], records[order[-1]]
    lines = ["## Latency", "", f"Before {first.id} and after {last.id}, in ms.", ""]
    lines += ["| size | p50 before | p50 after | p99 before | p99 after |", "|---|--:|--:|--:|--:|"]
    after = {each.size: each for each in last.estimates}
    for each in first.estimates:
        if each.size == "objective" or each.baseline_times is None or after[each.size].candidate_times is None:
            continue
        new = after[each.size]
        p50, p50_new = each.baseline_ns / 1e6, new.candidate_ns / 1e6
        p99, p99_new = p50 * each.baseline_times.p99, p50_new * new.candidate_times.p99
        lines.append(f"| {each.size} | {p50:.3f} | {p50_new:.3f} | {p99:.3f} | {p99_new:.3f} |")
    return "\n".join([*lines, ""])


def _classes(order, shares) -> str:
    """Return the share of each class in the time of all operators, before and after each rung that was profiled."""
    if not order:
        return ""
    classes = sorted({name for each in order for side in shares[each].values() for name in side})
    heads = [f"{each} {word}" for each in order for word in ("before", "after")]
    lines = ["## Where the time goes", "", "Percent of the time of all operators, by class.", ""]
    lines += [f"| class | {' | '.join(heads)} |", "|---|" + "--:|" * len(heads)]
    for name in classes:
        cells = [f"{shares[each].get(side, {}).get(name, 0.0):.1f}" for each in order for side in ("baseline", "candidate")]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join([*lines, ""])


def _not_worth_it(names, records) -> str:
    lines = ["## What was not worth it", ""]
    lines += [f"- {name}, {records[name].title}: {records[name].verdict}, {records[name].reasons[0]}" for name in names]
    return "\n".join([*lines, ""]) if names else ""


def _unmeasured(names, titles) -> str:
    lines = ["## Without a record", "", "What needs a GPU where there was none, or waited for a rung that was not kept.", ""]
    lines += [f"- {name}, {titles[name]}" for name in names]
    return "\n".join([*lines, ""]) if names else ""


def _shares(facts) -> dict[str, float]:
    return {each.name.removeprefix(SHARE_OF): each.value for each in facts if each.name.startswith(SHARE_OF)}
