"""Everything that a Tensile name says, and what it leaves open."""

from dataclasses import dataclass

from expctl.gpu.tensile.logic_file import Agreement, Recorded, compare
from expctl.gpu.tensile.name import Dialect, KernelName, Kind, read_name
from expctl.gpu.tensile.threads import Threads, threads

# What a reader of a profile asks for. A name that leaves one out doesn't mean its default.
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
class Reading:
    """`layout` is NN, NT, TN or TT; `omitted` are keys whose values are unknown, `why` says how that comes."""

    kernel: KernelName
    layout: str
    threads: Threads
    omitted: tuple[str, ...]
    why: str
    differs: tuple[Agreement, ...]


def read(name: str, arch: str = "", recorded: Recorded | None = None) -> Reading | None:
    """What `name` says; None if it is no Tensile name. `recorded` are the parameters of the solution, where they are known."""
    kernel = read_name(name)
    if kernel is None:
        return None
    product = kernel.kind in (Kind.PRODUCT, Kind.CUSTOM)
    omitted = tuple(key for parameter, key in WANTED.items() if kernel.value(parameter) is None) if product else ()
    return Reading(
        kernel=kernel,
        layout=kernel.problem.layout if kernel.problem else "",
        threads=threads(kernel, arch),
        omitted=omitted,
        why=WHY[kernel.dialect] if omitted else "",
        differs=tuple(each for each in compare(kernel, recorded or {}) if not each.agrees),
    )
