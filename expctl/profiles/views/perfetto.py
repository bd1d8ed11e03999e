"""A profile's dispatches as a trace that Perfetto and chrome://tracing open (Chrome's trace event format, times in us)."""

import json
from collections.abc import Mapping

from expctl.profiles.model.kernel_profile import Profile
from expctl.profiles.roofline.ceilings import Position
from expctl.profiles.views.short_names import short_names


def perfetto_trace(profile: Profile, positions: Mapping[str, Position]) -> bytes:
    """Return the trace as the bytes of a JSON file. Each GPU is a process; kernels that overlap are on threads of their own.
    Times start at the first dispatch. `positions` are roofline positions by kernel name.
    """
    short = short_names([kernel.name for kernel in profile.kernels])
    first = min((min(track.starts) for track in profile.tracks if track.starts), default=0)
    events: list[dict[str, object]] = []
    arguments = [
        {"kernel": kernel.name, "bound": place.bound.value if (place := positions.get(kernel.name)) else "unknown"}
        for kernel in profile.kernels
    ]
    for process, track in enumerate(profile.tracks):
        events.append({"ph": "M", "name": "process_name", "pid": process, "args": {"name": track.device}})
        free: list[int] = []
        for number in sorted(range(len(track.starts)), key=track.starts.__getitem__):
            start, end, place_of = track.starts[number], track.ends[number], track.kernels[number]
            thread = next((lane for lane, until in enumerate(free) if until <= start), len(free))
            free[thread : thread + 1] = [end]
            kernel = profile.kernels[place_of]
            events.append(
                {
                    "ph": "X", "pid": process, "tid": thread, "name": short[kernel.name], "cat": kernel.kind.value,
                    "ts": (start - first) / 1e3, "dur": (end - start) / 1e3, "args": arguments[place_of],
                }
            )  # fmt: skip
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events}, separators=(",", ":")).encode()
