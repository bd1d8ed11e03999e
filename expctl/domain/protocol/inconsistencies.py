"""Checks protocol.yaml for contradictions between values that are each of the right type."""

from __future__ import annotations

from typing import TYPE_CHECKING

from expctl.domain.protocol.boundaries import LOOKS, RESCUERS_MOST
from expctl.domain.protocol.model import LAYOUT, Style, Toolchain, inside
from expctl.domain.protocol.names import name_faults
from expctl.domain.protocol.options import options_rule_faults
from expctl.domain.protocol.profiler_passes import counter_faults
from expctl.domain.protocol.proposer import proposer_faults
from expctl.domain.protocol.step import metric_faults

if TYPE_CHECKING:
    from expctl.domain.protocol.model import Protocol, Target

LAYOUTS_MOST = 32
SLOWER_PERCENT = (1.0, 50.0)  # of a control: a smaller difference is lost in noise, a larger one hides a wrong size
BURN_IN_MOST_S = 600.0


def inconsistencies(protocol: Protocol) -> tuple[str, ...]:
    """Return one sentence for each contradiction or value out of range in protocol.yaml, beginning with its key."""
    found: list[str] = []
    if protocol.version != 1:
        found.append(f"version: expected 1, found {protocol.version}; upgrade expctl if a newer one wrote it")
    if not protocol.scope:
        found.append("scope: expected at least one folder that a patch may touch")
    for name in protocol.decides:
        target = protocol.targets.get(name)
        if target is None:
            found.append(f"decides: expected one of targets ({', '.join(protocol.targets)}), found {name}")
        elif target.benchmark is None or target.test is None:
            found.append(f"decides: {name} needs both a test and a benchmark to decide")
    if not protocol.decides:
        found.append("decides: expected at least one target whose verdict may move the branch")
    for name in (*protocol.scope, *protocol.harness):
        if _leads_out(name.rstrip("/")):
            found.append(f"scope and harness: expected a folder or file inside the repository, found {name!r}")
    found.extend(_overlaps(protocol))
    found.extend(_template_faults(protocol.ledger.template, protocol.scope))
    swept = protocol.proposer.sweep.file if protocol.proposer is not None and protocol.proposer.sweep is not None else ""
    found += proposer_faults(protocol.proposer, in_scope=inside(swept, protocol.scope), targets=tuple(protocol.targets))
    in_scope = protocol.options is not None and inside(protocol.options.file, protocol.scope)
    found += options_rule_faults(protocol.options, in_scope=in_scope, fixed=protocol.environment.set)
    measured = [target.benchmark for target in protocol.targets.values() if target.benchmark is not None]
    found += name_faults(
        targets=protocol.targets,
        sizes=[size.name for benchmark in measured for size in benchmark.sizes],
        variables=(*protocol.environment.pass_through, *protocol.environment.set),
        writable=protocol.environment.writable,
    )
    for name, target in protocol.targets.items():
        if target.stands_for and target.stands_for not in protocol.targets:
            found.append(
                f"targets.{name}.stands_for: expected one of targets ({', '.join(protocol.targets)}), found {target.stands_for}"
            )
        found.extend(f"targets.{name}.{sentence}" for sentence in _target_faults(target))
        found.extend(f"targets.{name}.benchmark.control.{sentence}" for sentence in _control_faults(target, protocol.scope))
        launch = target.hot_loop.launch if target.hot_loop is not None else ""
        if launch.lower().endswith(".py") and inside(launch, protocol.scope):
            found.append(f"targets.{name}.hot_loop.launch: {launch} is Python in scope, where a patch could change what is run")
    for wait in ("wait_s", "quiet_s"):
        if getattr(protocol.gate, wait) < 0:
            found.append(f"gate.{wait}: expected 0 or more, found {getattr(protocol.gate, wait):g}")
    for limit in ("gpu_busy_percent", "others_percent", "slow_clock_percent", "hot_c"):
        if not 0 <= getattr(protocol.gate, limit) <= 100:
            found.append(f"gate.{limit}: expected 0 (off) to 100, found {getattr(protocol.gate, limit):g}")
    for limit in ("guard_percent", "regression_percent", "worthwhile_percent", "simplify_percent", "costly_percent"):
        if not 0 <= getattr(protocol.keep, limit) <= 50:
            found.append(f"keep.{limit}: expected 0 to 50, found {getattr(protocol.keep, limit)}")
    if not 0 <= protocol.keep.blind_percent <= 100:
        found.append(f"keep.blind_percent: expected 0 (never) to 100, found {protocol.keep.blind_percent:g}")
    return tuple(found)


def _leads_out(path: str) -> bool:
    """Is `path` absolute, inside .git, or does it have an empty part, `.` or `..`?"""
    return path.startswith(("/", ".git")) or not {"", ".", ".."}.isdisjoint(path.split("/"))


def _template_faults(template: str, scope: tuple[str, ...]) -> list[str]:
    if template and _leads_out(template):
        return [f"ledger.template: expected a file inside the repository, found {template!r}"]
    return [f"ledger.template: {template} is in scope, where a patch could change it"] if inside(template, scope) else []


def _overlaps(protocol: Protocol) -> list[str]:
    shielded = (*protocol.harness, "protocol.yaml", "ledger.md", "experiments")
    return [
        f"scope: {folder} overlaps {other}, which no patch may change, because it judges or records"
        for folder in protocol.scope
        for other in shielded
        if inside(folder, (other,)) or inside(other, (folder,))
    ]


def _target_faults(target: Target) -> list[str]:
    found: list[str] = []
    build = target.build
    if build.toolchain is Toolchain.COMMAND and not build.argv:
        found.append("build.argv: expected the command that writes {artifact}")
    if build.toolchain is not Toolchain.COMMAND and not build.source:
        found.append(f"build.source: expected the file that {build.toolchain} compiles")
    ending = build.source.rpartition(".")[2]
    if build.toolchain is Toolchain.SOURCE and not build.artifact.endswith(f".{ending}"):
        found.append(f"build.artifact: expected a name that ends in .{ending}, as source does, found {build.artifact!r}")
    if build.timeout_s <= 0:
        found.append(f"build.timeout_s: expected more than 0, found {build.timeout_s:g}")
    if "/" in build.artifact or build.artifact in ("", ".", ".."):
        found.append(f"build.artifact: expected a plain file name, found {build.artifact!r}")
    steps = {"test": target.test, "benchmark": target.benchmark, "profile": target.profile, "rivals": target.rivals}
    for step, argv in steps.items():
        if argv is not None and not argv.argv:
            found.append(f"{step}.argv: expected a command, found an empty list")
        if argv is not None and argv.timeout_s <= 0:
            found.append(f"{step}.timeout_s: expected more than 0, found {argv.timeout_s:g}")
    for step, without in (("test", target.test), ("rivals", target.rivals)):
        if without is not None and without.counters:
            found.append(f"{step}.counters: expected none, because only a profile step reads counters")
    found.extend(f"test.{sentence}" for sentence in metric_faults(target.test))
    if target.profile is not None:
        found.extend(f"profile.{sentence}" for sentence in counter_faults(target.profile))
    if target.engaged and (target.profile is None or target.test is None or target.benchmark is None):
        found.append("engaged: expected a test, a benchmark and a profile, which shows which kernels ran, found one missing")
    if "" in target.engaged:
        found.append("engaged: expected names of kernels, with * for any rest, found an empty one")
    found.extend(_layout_faults(target))
    found.extend(_burn_in_faults(target))
    found.extend(_tune_faults(target))
    benchmark = target.benchmark
    if benchmark is not None:
        weights = [size.weight for size in benchmark.sizes]
        if not weights or min(weights) < 0 or abs(sum(weights) - 1) > 1e-9:
            found.append(f"benchmark.sizes: expected weights that are not negative and sum to 1, found {weights}")
        if len({size.name for size in benchmark.sizes}) < len(benchmark.sizes):
            found.append("benchmark.sizes: expected each name once, found one twice")
        if benchmark.rounds not in LOOKS:
            planned = ", ".join(str(look) for look in LOOKS)
            found.append(f"benchmark.rounds: expected the last planned look, one of {planned}, found {benchmark.rounds}")
        if sum(size.rescuer for size in benchmark.sizes) > RESCUERS_MOST:
            found.append(f"benchmark.sizes: expected at most {RESCUERS_MOST} sizes with `rescuer: true`")
        for count in (benchmark.iterations, benchmark.quads):
            if not 1 <= count <= 1000:
                found.append(f"benchmark: expected 1 to 1000 iterations and quads, found {count}")
        for peak in ("peak_tflops", "peak_gb_s"):
            if getattr(benchmark, peak) < 0:
                found.append(f"benchmark.{peak}: expected at least 0, found {getattr(benchmark, peak):g}")
        if not 1 <= benchmark.respawn <= (100 if benchmark.style is Style.FINE else 1):
            found.append(f"benchmark.respawn: expected 1, or up to 100 rounds in style fine, found {benchmark.respawn}")
        if benchmark.together and benchmark.style is Style.FINE:
            found.append("benchmark.together: expected false in style fine, whose workers are always two, found true")
    return found


def _tune_faults(target: Target) -> list[str]:
    rule = target.tune
    if rule is None:
        return []
    counts = {"iterations": rule.iterations, "quads": rule.quads, "trials": rule.trials}
    found = [f"tune.{name}: expected 1 to 1000, found {count}" for name, count in counts.items() if not 1 <= count <= 1000]
    return found if rule.configs else [*found, "tune.configs: expected the configs of the build, found none"]


def _control_faults(target: Target, scope: tuple[str, ...]) -> list[str]:
    control = target.benchmark.control if target.benchmark is not None else None
    if control is None:
        return []
    least, most = SLOWER_PERCENT
    found: list[str] = []
    if _leads_out(control.patch):
        found.append(f"patch: expected a file inside the repository, found {control.patch!r}")
    if inside(control.patch, scope):
        found.append(f"patch: {control.patch} is in scope, where an experiment could change it")
    if not least <= control.slower_percent <= most:
        found.append(f"slower_percent: expected {least:g} to {most:g}, found {control.slower_percent:g}")
    return found


def _burn_in_faults(target: Target) -> list[str]:
    rule = target.benchmark.burn_in if target.benchmark is not None else None
    if target.benchmark is None or rule is None:
        return []
    if not target.uses_gpu:
        return ["benchmark.burn_in: expected none, because it waits for the clock and heat of a GPU, and none is timed"]
    limits = {
        "window_s": BURN_IN_MOST_S,
        "most_s": min(BURN_IN_MOST_S, target.benchmark.timeout_s),
        "clock_percent": 100.0,
        "temperature_c": 100.0,
    }
    found = [
        f"benchmark.burn_in.{key}: expected more than 0, at most {most:g}, found {getattr(rule, key):g}"
        for key, most in limits.items()
        if not 0 < getattr(rule, key) <= most
    ]
    if rule.window_s > rule.most_s:
        found.append(f"benchmark.burn_in.window_s: expected at most most_s, {rule.most_s:g}, found {rule.window_s:g}")
    return found


def _layout_faults(target: Target) -> list[str]:
    layouts, toolchain = target.layouts, target.build.toolchain
    if not 1 <= layouts <= LAYOUTS_MOST:
        return [f"benchmark.layouts: expected 1 to {LAYOUTS_MOST}, found {layouts}"]
    if layouts == 1 or toolchain is Toolchain.ZIG_CPU:
        return []
    if toolchain is not Toolchain.COMMAND:
        return [f"benchmark.layouts: expected 1, because {toolchain} builds no other layout, found {layouts}"]
    if any(LAYOUT in word for word in target.build.argv):
        return []
    return [f"benchmark.layouts: expected 1, or {LAYOUT} in build.argv for the number of the layout to build, found {layouts}"]
