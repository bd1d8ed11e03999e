"""Decode all that the name of a Tensile kernel says, and list the parameters whose values it leaves out."""

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
    """The decoded name of a Tensile kernel.

    `layout` tells which of A and B are transposed (NN, NT, TN, TT; "" if unknown). `omitted` are keys of important parameters
    that the name leaves out, and `why` is the reason. `differs` are parameters with other values in the logic file.
    """

    kernel: KernelName
    layout: str
    threads: Threads
    omitted: tuple[str, ...]
    why: str
    differs: tuple[Agreement, ...]


def decode_name(name: str, arch: str = "", recorded: Recorded | None = None) -> DecodedName | None:
    """Decode the Tensile kernel name `name`; return None if it is no Tensile name.

    `arch` (e.g. gfx1151) gives the wave size where the name doesn't. `recorded` are the kernel's values by parameter in a logic
    file (Tensile's table of the kernels in a library), with which the name is compared.
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
