"""Read what the script of the rivals step left: rivals.json, and for a GPU the profiles that it names (docs/RIVALS.md)."""

from collections.abc import Mapping
from pathlib import Path

import msgspec
from msgspec import Struct, field
from msgspec.structs import replace

from expctl.domain.errors import Refused
from expctl.domain.experiment.rivals import (
    REPORT,
    Backend,
    CodeObject,
    Rival,
    RivalKernel,
    RivalReport,
    RivalSize,
    Role,
    code_object,
)
from expctl.domain.run.step_result import Failed
from expctl.domain.text import one_line
from expctl.profiles.model.kernel_profile import Kernel, Profile
from expctl.profiles.model.pipeline import main_gemm
from expctl.profiles.read_profile import read_profile
from expctl.profiles.readers.rocprof.rocpd_code_objects import names_beside

KERNELS_MOST = 12
NAME_MOST, TEXT_MOST = 600, 300


class Listing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a script knows of a rival's kernels: their list, or the `folder` of its output in which a profiler's files lie."""

    products: int
    kernels: tuple[RivalKernel, ...] = ()
    folder: str = ""


class Told(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a script says of one rival; the fields of `Rival`, but for kernels and code objects."""

    name: str
    role: Role
    ns: tuple[float, ...] = ()
    absent: str = ""
    rel_l2: float | None = None
    config: str = ""
    listing: Listing | None = None
    remark: str = ""
    cast_bytes: int = 0
    chosen: str = ""
    backends: tuple[Backend, ...] = ()
    tried_us: Mapping[str, float] = field(default_factory=dict)
    code_objects: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


class ToldSize(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a script says of one size."""

    name: str
    entries: tuple[Told, ...]
    flop: int = 0


class Report(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of rivals.json."""

    sizes: tuple[ToldSize, ...]
    environment: Mapping[str, str] = field(default_factory=dict)


def read_rivals(folder: Path, *, arch: str = "") -> RivalReport | Failed:
    """Return the times and kernels in `folder`, the output of the rivals step on a GPU `arch`; or Failed with the reason."""
    try:
        report = msgspec.json.decode((folder / REPORT).read_bytes(), type=Report)
    except OSError as error:
        return Failed(reason=f"{REPORT}: {error.strerror}", fault=True)
    except (ValueError, RecursionError) as error:
        return Failed(reason=f"{REPORT}: {one_line(str(error), TEXT_MOST)}", fault=True)
    if fault := _fault(report):
        return Failed(reason=f"{REPORT}: {fault}", fault=True)
    sizes = tuple(
        RivalSize(
            name=one_line(size.name, 60), flop=size.flop, entries=tuple(_rival(each, folder, arch) for each in size.entries)
        )
        for size in report.sizes
    )
    environment = {one_line(name, 40): one_line(value, 120) for name, value in report.environment.items()}
    return RivalReport(sizes=sizes, environment=environment)


def _fault(report: Report) -> str:
    """Return what no reader could use: no kernel of one's own, a time that is none, turns that don't pair."""
    if not report.sizes:
        return "expected one size at least"
    for size in report.sizes:
        ours = [each for each in size.entries if each.role is Role.OURS]
        if len(ours) != 1 or len({each.name for each in size.entries}) < len(size.entries):
            return f"{size.name}: expected one entry of the role ours, and each name once"
        for each in size.entries:
            if not all(0 < ns < 1e15 for ns in each.ns) or bool(each.ns) is bool(each.absent):
                return f"{size.name}, {each.name}: expected times above 0 ns in `ns`, or in `absent` why there are none"
        if len({len(each.ns) for each in size.entries if each.ns}) > 1:
            return f"{size.name}: expected as many turns of each"
    return ""


def _rival(told: Told, folder: Path, arch: str) -> Rival:
    listing = told.listing or Listing(products=0)
    rival = Rival(
        name=one_line(told.name, 60),
        role=told.role,
        ns=told.ns,
        absent=one_line(told.absent, TEXT_MOST),
        rel_l2=told.rel_l2,
        config=one_line(told.config, 60),
        products=listing.products,
        kernels=_shortened(listing.kernels),
        cast_bytes=told.cast_bytes,
        chosen=one_line(told.chosen, TEXT_MOST),
        backends=tuple(replace(each, why=one_line(each.why, TEXT_MOST)) for each in told.backends),
        tried_us=dict(list(told.tried_us.items())[:KERNELS_MOST]),
        code_objects=tuple(code_object(symbol, names) for symbol, names in told.code_objects.items()),
        remark=one_line(told.remark, TEXT_MOST),
    )
    return _with_profile(rival, folder, listing, arch) if listing.folder else rival


def _with_profile(rival: Rival, folder: Path, listing: Listing, arch: str) -> Rival:
    """Return `rival` with the kernels of its profile; with a remark instead where that can't be read."""
    place = (folder / listing.folder).resolve()
    if not place.is_relative_to(folder.resolve()):
        return replace(rival, remark=f"{one_line(listing.folder, 60)} is no folder of the output")
    try:
        profile = read_profile(place, arch=arch)
        objects = rival.code_objects or _code_objects(place, profile)
    except Refused as refusal:
        return replace(rival, remark=one_line(f"{refusal.message}: {refusal.found}", TEXT_MOST))
    # What is launched less often than once for a product is preparation.
    found = [each for each in profile.kernels if each.mean_ns is not None and each.calls >= listing.products]
    return replace(rival, kernels=_shortened(tuple(map(_kernel, found))), code_objects=objects)


def _kernel(kernel: Kernel) -> RivalKernel:
    launch = kernel.launch
    return RivalKernel(
        name=kernel.name,
        calls=kernel.calls,
        mean_ns=round(kernel.mean_ns or 0.0, 1),
        registers=launch.vgpr,
        lds_bytes=launch.lds_bytes,
        grid=launch.grid,
        workgroup=launch.workgroup,
    )


def _shortened(kernels: tuple[RivalKernel, ...]) -> tuple[RivalKernel, ...]:
    return tuple(replace(each, name=one_line(each.name, NAME_MOST)) for each in kernels[:KERNELS_MOST])


def _code_objects(folder: Path, profile: Profile) -> tuple[CodeObject, ...]:
    """Return what lies beside the product's kernel, where the profile is a database that tells."""
    main = main_gemm(profile.kernels)
    if main is None:
        return ()
    found = ((main.name, names_beside(path, main.name)) for path in sorted(folder.rglob("*.db")))
    return tuple(code_object(symbol, names) for symbol, names in found if names)
