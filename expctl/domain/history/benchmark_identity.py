"""Identifies a target's benchmark by protocol and harness, because only figures of equal benchmarks are comparable."""

import hashlib
import json

from expctl.domain.experiment.record import BenchmarkIdentity
from expctl.domain.protocol.model import Protocol, Style, Target, Toolchain


def benchmark_identity_of(protocol: Protocol, target: str, *, harness: str, code: str = "") -> BenchmarkIdentity:
    """Return the identity of a target's benchmark. `harness` is the hash of the harness files, `code` that without comments."""
    return BenchmarkIdentity(
        harness=harness, kpi=kpi_text(protocol, target), build=_build_text(protocol.targets[target]), harness_code=code
    )


def kpi_text(protocol: Protocol, target: str) -> str:
    """Return as text everything in the protocol that affects a target's timing; empty for a target without a benchmark.

    Example: `n=512 (0.6), n=384 (0.4); fine, 100 quads of 1, respawn 1, wall_time; command 1f2e3d4c`. The hash at the end
    covers the command, its environment and the work (flop) of each size. Limits of resources and of noise are left out.
    """
    benchmark, kind = protocol.targets[target].benchmark, protocol.targets[target].number_kind
    if benchmark is None:
        return ""
    sizes = ", ".join(f"{size.name} ({size.weight:g})" for size in benchmark.sizes)
    fine = f"{benchmark.quads} quads of " if benchmark.style is Style.FINE else "iterations: "
    parts = [list(benchmark.argv), sorted(protocol.environment.set.items()), [size.flop for size in benchmark.sizes]]
    parts += [sorted(protocol.environment.pass_through)] if protocol.environment.pass_through else []
    parts += [protocol.environment.python] if protocol.environment.python else []
    command = hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:8]
    layouts = f", {benchmark.layouts} layouts" if benchmark.layouts > 1 else ""
    rule = benchmark.burn_in
    burn_in = f"{rule.most_s:g} s to {rule.clock_percent:g} %, {rule.temperature_c:g} C in {rule.window_s:g} s" if rule else ""
    style = f"{benchmark.style}, {fine}{benchmark.iterations}, respawn {benchmark.respawn}{layouts}"
    style += ", together" if benchmark.together else ""
    style += f", burn-in {burn_in}" if burn_in else ""
    style += ", warm caches" if protocol.targets[target].build.toolchain is Toolchain.SOURCE else ""
    return f"{sizes}; {style}, {kind}; command {command}"


def _build_text(target: Target) -> str:
    build = target.build
    return " ".join(part for part in (build.toolchain, build.arch, build.source, *build.flags, *build.argv) if part)
