"""A profile as a JSON document, or as CSV with a row per kernel. Every key is always there, null or empty if unknown."""

import csv
import io
from collections.abc import Mapping, Sequence
from typing import Any

from expctl.profiles.model.kernel_profile import Kernel, Profile, class_shares, unidentified_percent
from expctl.profiles.model.pipeline import Pipeline
from expctl.profiles.roofline.ceilings import Position

_KERNEL_FIGURES = ("calls", "total_ns", "mean_ns", "min_ns", "median_ns", "max_ns", "sd_ns", "share_percent")
_LAUNCH_FIGURES = ("vgpr", "agpr", "sgpr", "lds_bytes", "scratch_bytes", "grid", "workgroup")
_OTHERS = ("launches", "waves_per_simd", "bound", "tflops", "gbs")
_HEADS = ("name", "class", *_KERNEL_FIGURES, *_LAUNCH_FIGURES, *_OTHERS)


def profile_data(
    profile: Profile,
    kernels: Sequence[Kernel],
    positions: Mapping[str, Position],
    pipeline: Pipeline | None,
    totals: Sequence[Kernel],
) -> dict[str, Any]:
    """Return a profile as a JSON document that lists `kernels`.

    `positions` are roofline positions by kernel name, `pipeline` the mean times of one repetition of the kernels, None if not
    asked for. `totals` are the kernels over which classes (GEMM, copy, ...) are summed up; they may be more than `kernels`.
    """
    return {
        "path": profile.path,
        "source": profile.source.value,
        "files": profile.files,
        "grid_unit": profile.grid_unit.value,
        "devices": [plain_fields(device) for device in profile.devices],
        "calls": profile.calls,
        "kernel_count": len(profile.kernels),
        "total_ns": profile.total_ns if any(kernel.total_ns is not None for kernel in profile.kernels) else None,
        "unidentified_percent": unidentified_percent(profile),
        "classes": [plain_fields(share) | {"class": share.kind.value} for share in class_shares(totals, profile.total_ns)],
        "timelines": [
            plain_fields(each) | {"idle_ns": each.idle_ns, "idle_percent": each.idle_percent} for each in profile.timelines
        ],
        "kernels": [_kernel(kernel, positions.get(kernel.name)) for kernel in kernels],
        "copies": [plain_fields(copy) for copy in profile.copies],
        "pipeline": plain_fields(pipeline) if pipeline else None,
        "notes": profile.notes,
        "missing": profile.missing,
    }


def profile_csv(kernels: Sequence[Kernel], positions: Mapping[str, Position]) -> str:
    """Return CSV text with a header and one row per kernel; `positions` are roofline positions by kernel name."""
    lines = [_csv_line(_HEADS)]
    for kernel in kernels:
        facts, launch = _kernel(kernel, positions.get(kernel.name)), kernel.launch
        place = positions.get(kernel.name)
        extra = {
            "grid": "x".join(map(str, launch.grid or ())),
            "workgroup": "x".join(map(str, launch.workgroup or ())) or launch.workgroup_size,
            "launches": len(kernel.launches),
            "waves_per_simd": kernel.occupancy.waves_per_simd if kernel.occupancy else None,
            "bound": place.bound.value if place else None,
            "tflops": place.tflops if place else None,
            "gbs": place.gbs if place else None,
        }
        lines.append(_csv_line(["" if (value := (facts | extra)[head]) is None else value for head in _HEADS]))
    return "\n".join([*lines, ""])


def _csv_line(cells: Sequence[object]) -> str:
    """Return one CSV row without its line end; cells with a CR or LF are quoted."""
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\r\n").writerow(cells)
    return text.getvalue().removesuffix("\r\n")


def _kernel(kernel: Kernel, place: Position | None) -> dict[str, Any]:
    return {
        "name": kernel.name,
        "class": kernel.kind.value,
        **{name: getattr(kernel, name) for name in _KERNEL_FIGURES},
        **{name: getattr(kernel.launch, name) for name in _LAUNCH_FIGURES},
        "launches": [plain_fields(each) for each in kernel.launches],
        "counters": dict(kernel.counters),
        "occupancy": kernel.occupancy,
        "occupancy_note": kernel.occupancy_note,
        "origins": [plain_fields(each) for each in kernel.origins],
        "roofline": plain_fields(place) if place else None,
    }


def plain_fields(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass that has slots, by name, with nested dataclasses as dicts and tuples as lists."""
    return {name: _plain(getattr(value, name)) for name in value.__slots__}


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    return plain_fields(value) if hasattr(type(value), "__dataclass_fields__") else value
