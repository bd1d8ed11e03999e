"""The ground that a figure stands on: everything that must be equal for two figures to be comparable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from expctl.domain.experiment.record import OBJECTIVE

if TYPE_CHECKING:
    from expctl.domain.experiment.record import BenchmarkIdentity, Record, Replication

HASH_LETTERS = 8

HARNESS, CODE = "harness", "harness code"
# What `protocol` stands for as a whole, and a record's `yardstick` says one by one.
JUDGES = (HARNESS, CODE, "KPI", "build", "sizes")
PROTOCOL = "protocol.yaml or harness"
HASHES = (HARNESS, CODE, PROTOCOL)
# Facts of the machine in `environment`; every other fact there is the version of a tool of the build.
MACHINE_FACTS = frozenset(
    ("cpu", "vector", "cores", "memory_gib", "os", "architecture", "python", "gpu", "machine", "driver", "clock_policy")
) | {"confinement"}
NO_COMPILER = frozenset(("elftools",))  # it hashes builds and shapes none


class Comparability(Struct, frozen=True, kw_only=True):
    """`protocol` is the hash of protocol.yaml and the harness as files. `parts` are named texts: of the harness as files and
    as code, the KPI, the build, the compiler, the machine, its kernel, driver and clock policy. What is not known is left out
    of both.
    """

    protocol: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


class Change(Struct, frozen=True, kw_only=True):
    """One thing in which two grounds differ."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what} {self.short(self.before)} -> {self.short(self.after)}"

    def short(self, text: str) -> str:
        """Return `before` or `after` as it is shown: a hash by its first letters."""
        return text[:HASH_LETTERS] if self.what in HASHES else text


def comparability_of(
    *, protocol: str, yardstick: BenchmarkIdentity | None, environment: Mapping[str, str], sizes: tuple[str, ...] = ()
) -> Comparability:
    """The ground of a measurement. `sizes` are those of its estimates, all that old records hold of their KPI."""
    tools = sorted(set(environment) - MACHINE_FACTS - NO_COMPILER)
    cores = f", {environment['cores']} cores" if "cores" in environment else ""
    parts = {
        HARNESS: yardstick.harness if yardstick else "",
        CODE: yardstick.harness_code if yardstick else "",
        "KPI": yardstick.kpi if yardstick else "",
        "build": yardstick.build if yardstick else "",
        "sizes": ", ".join(sizes) or _sizes_of(yardstick.kpi if yardstick else ""),
        "compiler": ", ".join(f"{name} {environment[name]}" for name in tools),
        "machine": f"{environment['cpu']}{cores}" if "cpu" in environment else environment.get("machine", ""),
        "gpu": environment.get("gpu", ""),
        "kernel": environment.get("os", ""),
        "driver": environment.get("driver", ""),
        "clock policy": environment.get("clock_policy", ""),
    }
    return Comparability(protocol=protocol, parts={name: text for name, text in parts.items() if text})


def grounds_of(record: Record) -> tuple[tuple[str, str, Comparability], ...]:
    """(target, date, ground) of a record and of each of its replications; none of an imported one, for nobody knows it."""
    if not record.base:
        return ()
    found = [(record.target, record.date, _of(record, record.protocol))]
    return (*found, *((again.target, again.date, _of(again, record.protocol)) for again in record.replications))


def changes(before: Comparability, after: Comparability, *, protocols: frozenset[str] = frozenset()) -> tuple[Change, ...]:
    """What differs, among what both know. `protocols` are further identities that `before` is known under.

    An equal hash of protocol.yaml and harness settles all that these decide; a different one says nothing where both know
    the parts, and must count as a difference where one doesn't. The harness' files decide only where one of them doesn't know
    its code: a comment is no difference between two that do.
    """
    same = bool(after.protocol) and after.protocol in (protocols | {before.protocol})
    told = all(name in ground.parts for ground in (before, after) for name in (HARNESS, "KPI", "build"))
    coded = CODE in before.parts and CODE in after.parts
    settled = {*(JUDGES if same else ()), *(("sizes",) if told else ()), *((HARNESS,) if coded else ())}
    found = [
        Change(what=name, before=text, after=after.parts[name])
        for name, text in before.parts.items()
        if after.parts.get(name, text) != text and name not in settled
    ]
    if not same and not told and before.protocol and after.protocol:
        found.insert(0, Change(what=PROTOCOL, before=before.protocol, after=after.protocol))
    return tuple(found)


def _of(measured: Record | Replication, protocol: str) -> Comparability:
    sizes = tuple(estimate.size for estimate in measured.estimates if estimate.size != OBJECTIVE)
    return comparability_of(protocol=protocol, yardstick=measured.yardstick, environment=measured.environment, sizes=sizes)


def _sizes_of(kpi: str) -> str:
    """`n=512, n=384` of a KPI's text."""
    return ", ".join(part.rpartition(" (")[0] for part in kpi.partition(";")[0].split(", ")) if kpi else ""
