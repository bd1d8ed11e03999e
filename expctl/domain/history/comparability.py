"""The conditions of a measurement: everything that must be equal for two figures to be comparable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec import Struct, field

from expctl.domain.experiment.record import OBJECTIVE

if TYPE_CHECKING:
    from expctl.domain.experiment.record import BenchmarkIdentity, Record, Replication

HASH_LETTERS = 8

HARNESS, CODE = "harness", "harness code"
VECTORS = "vector instructions"
# The parts that the hash `protocol` covers as a whole.
SIZES_SHOWN = 8
JUDGES = (HARNESS, CODE, "KPI", "build", "sizes")
PROTOCOL = "protocol.yaml or harness"
HASHES = (HARNESS, CODE, PROTOCOL)
# Facts of the machine in `environment`; every other fact there is the version of a tool of the build.
MACHINE_FACTS = frozenset(
    ("cpu", "vector", "cores", "memory_gib", "os", "architecture", "python", "gpu", "machine", "driver", "clock_policy")
) | {"confinement", "walls", "settings", "cards", "variables", "fingerprint", "device"}
NO_COMPILER = frozenset(("elftools",))  # it hashes builds and affects none


class Comparability(Struct, frozen=True, kw_only=True):
    """The conditions of a measurement, as far as they are known. `protocol` is the hash of protocol.yaml and the harness files.

    `parts` maps names to texts: hashes of the harness files and of their code, the KPI (problem sizes and weights), build,
    compiler, machine, its vector instructions, OS kernel, driver, clock policy, settings of Linux and cards, variables of the
    user's shell. An unknown part is missing.
    """

    protocol: str = ""
    parts: Mapping[str, str] = field(default_factory=dict)


class Change(Struct, frozen=True, kw_only=True):
    """One condition that differs between two measurements: its name (`what`) and its two values."""

    what: str
    before: str
    after: str

    def __str__(self) -> str:
        return f"{self.what} {self.short(self.before)} -> {self.short(self.after)}"

    def short(self, text: str) -> str:
        """Return a value of this condition for display: hashes are cut to 8 letters, long lists of sizes to their ends."""
        return text[:HASH_LETTERS] if self.what in HASHES else few_sizes(text) if self.what in ("KPI", "sizes") else text


def few_sizes(text: str) -> str:
    """Return the text of a KPI; of more than SIZES_SHOWN sizes the first and the last."""
    sizes, sign, rest = text.partition("; ")
    names = sizes.split(", ")
    return text if len(names) <= SIZES_SHOWN else f"{len(names)} sizes from {names[0]} to {names[-1]}{sign}{rest}"


def comparability_of(
    *, protocol: str, yardstick: BenchmarkIdentity | None, environment: Mapping[str, str], sizes: tuple[str, ...] = ()
) -> Comparability:
    """Return the conditions of a measurement with the benchmark `yardstick` (None: unknown). `environment` maps facts of the
    machine and tools to texts. `sizes` are the names of the problem sizes; empty for all of the KPI.
    """
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
        VECTORS: environment.get("vector", ""),  # one name of a CPU may stand for several
        "gpu": environment.get("gpu", ""),
        "kernel": environment.get("os", ""),
        "driver": environment.get("driver", ""),
        "clock policy": environment.get("clock_policy", ""),
        "settings": environment.get("settings", ""),
        "cards": environment.get("cards", ""),
        "variables": environment.get("variables", ""),
    }
    return Comparability(protocol=protocol, parts={name: text for name, text in parts.items() if text})


def measurement_conditions(record: Record) -> tuple[tuple[str, str, Comparability], ...]:
    """Return (target, date, conditions) of a record and of each of its replications; nothing for an imported record."""
    if not record.base:
        return ()
    found = [(record.target, record.date, _of(record, record.protocol))]
    return (*found, *((again.target, again.date, _of(again, record.protocol)) for again in record.replications))


def changes(before: Comparability, after: Comparability, *, protocols: frozenset[str] = frozenset()) -> tuple[Change, ...]:
    """Return the conditions that differ between two measurements. A condition that is unknown for either counts as equal.

    `protocols` are hashes of protocol.yaml and harness that are known to be comparable with that of `before`; if `after` has
    one of them or the same, all that these files determine counts as equal. Otherwise the hash of these files is compared only
    if a measurement lacks the parts (harness, KPI, build), and the hash of the harness files only if one lacks the hash of
    their code.
    """
    same = bool(after.protocol) and after.protocol in (protocols | {before.protocol})
    parts_known = all(name in each.parts for each in (before, after) for name in (HARNESS, "KPI", "build"))
    code_known = CODE in before.parts and CODE in after.parts
    equal = {*(JUDGES if same else ()), *(("sizes",) if parts_known else ()), *((HARNESS,) if code_known else ())}
    found = [
        Change(what=name, before=text, after=after.parts[name])
        for name, text in sorted(before.parts.items())  # one order, whoever made the parts
        if after.parts.get(name, text) != text and name not in equal
    ]
    if not same and not parts_known and before.protocol and after.protocol:
        found.insert(0, Change(what=PROTOCOL, before=before.protocol, after=after.protocol))
    return tuple(found)


def _of(measured: Record | Replication, protocol: str) -> Comparability:
    sizes = tuple(estimate.size for estimate in measured.estimates if estimate.size != OBJECTIVE)
    return comparability_of(protocol=protocol, yardstick=measured.yardstick, environment=measured.environment, sizes=sizes)


def _sizes_of(kpi: str) -> str:
    return ", ".join(part.rpartition(" (")[0] for part in kpi.partition(";")[0].split(", ")) if kpi else ""
