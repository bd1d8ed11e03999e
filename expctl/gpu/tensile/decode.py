"""Decode a Tensile kernel name completely, and list which parameters it leaves open."""

from dataclasses import dataclass

from expctl.gpu.tensile.logic_file import Agreement, Recorded, compare
from expctl.gpu.tensile.name import Dialect, KernelName, Kind, read_name
from expctl.gpu.tensile.threads import Threads, threads

# Parameters that readers of a profile usually need. One that the name omits need not have its default value.
WANTED = {
    "WorkGroup": "WG",
    "GlobalSplitU": "GSU",
    "WorkGroupMapping": "WGM",
    "StaggerU": "SU",
    "StaggerUStride": "SUS",
    "PrefetchGlobalRead": "PGR",
    "PrefetchLocalRead": "PLR",
    "1LDSBuffer": "1LDSB",
    "ScheduleIterAlg": "SIA",
    "ISA": "ISA",
}
WHY = {
    Dialect.TENSILE: "the same throughout its library, or the default: the name doesn't say which value",
    Dialect.TENSILE_LITE: "the same throughout its library, or given at launch: the name doesn't say which value",
    Dialect.UNKNOWN: "the name doesn't say",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class DecodedName:
    """A decoded name; `layout` is NN, NT, TN or TT; `omitted` are important keys that the name leaves out, `why` says why.

    `differs` are the parameters whose value in the logic file isn't that of the name.
    """

    kernel: KernelName
    layout: str
    threads: Threads
    omitted: tuple[str, ...]
    why: str
    differs: tuple[Agreement, ...]


def decode_name(name: str, arch: str = "", recorded: Recorded | None = None) -> DecodedName | None:
    """Decode the Tensile kernel name `name`; return None if it is no Tensile name.

    `arch` gives the wave size where the name doesn't; `recorded` are the solution's parameters from a logic file.
    """
    kernel = read_name(name)
    if kernel is None:
        return None
    product = kernel.kind in (Kind.PRODUCT, Kind.CUSTOM)
    omitted = tuple(key for parameter, key in WANTED.items() if kernel.value(parameter) is None) if product else ()
    return DecodedName(
        kernel=kernel,
        layout=kernel.problem.layout if kernel.problem else "",
        threads=threads(kernel, arch),
        omitted=omitted,
        why=WHY[kernel.dialect] if omitted else "",
        differs=tuple(each for each in compare(kernel, recorded or {}) if not each.agrees),
    )
