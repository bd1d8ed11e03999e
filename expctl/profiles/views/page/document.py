"""Render a profile as one HTML file that needs no other and asks no network: timeline, roofline, classes, kernels."""

import base64
import functools
import hashlib
import json
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import PurePath
from typing import Any

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from expctl.domain.experiment.figures import time_text
from expctl.domain.text import one_line, plain_text
from expctl.profiles.model.kernel_profile import MEND_PERCENT, Kernel, Profile, Track, class_shares, unidentified_percent
from expctl.profiles.roofline.ceilings import Bound, Position
from expctl.profiles.roofline.peaks import Peak
from expctl.profiles.views.colours import COLOURS
from expctl.profiles.views.page.roofline import roofline_svg
from expctl.profiles.views.short_names import short_names

FOLDER = "expctl.profiles.views.page"
EVENTS_MOST = 200_000
"""Dispatches of a timeline, the first ones; more would make the page slow to open."""
ROWS_MOST = 200


def page_html(profile: Profile, kernels: Sequence[Kernel], positions: Mapping[str, Position], peak: Peak | None) -> str:
    """Return the page as text. `kernels` are those of the profile with their occupancy, most time first; `positions` are their
    roofline positions by name. The timeline shows `profile.tracks`.
    """
    short = short_names([kernel.name for kernel in profile.kernels])
    style, script = _text("page.css"), _text("page.js")
    shown = sum(len(track.starts) for track in profile.tracks)
    return _environment().from_string(_text("page.html.j2")).render(
        title=one_line(PurePath(profile.path).name, 120),
        path=one_line(profile.path, 300),
        source=profile.source.value,
        devices=[f"{each.product or each.name} {each.arch}".strip() for each in profile.devices],
        total=time_text(profile.total_ns) if profile.total_ns else "times not recorded",
        calls=profile.calls,
        unidentified=f"{unidentified_percent(profile):.2f}",
        mend=unidentified_percent(profile) > MEND_PERCENT,
        classes=[
            {
                "name": each.kind.value, "share": f"{each.share_percent:.2f}", "time": time_text(each.total_ns),
                "kind": _kind(each.kind),
            }
            for each in class_shares(profile.kernels, profile.total_ns)
        ],
        rows=[_row(number, kernel, positions.get(kernel.name), short) for number, kernel in enumerate(kernels[:ROWS_MOST], 1)],
        left_out=max(len(kernels) - ROWS_MOST, 0),
        roofline=Markup(roofline_svg(kernels[:ROWS_MOST], positions, peak, short)),  # noqa: S704  its parts are escaped
        timeline=bool(shown),
        cut=shown if shown > EVENTS_MOST else 0,
        most=EVENTS_MOST,
        data=Markup(_json(_timeline(profile, short))),  # noqa: S704  `<` is escaped
        notes=[one_line(each, 600) for each in (*profile.notes, *profile.missing)],
        style=Markup(style),  # noqa: S704  this package's own
        script=Markup(script),  # noqa: S704  this package's own
        policy=_policy(style, script),
    )  # fmt: skip


def _row(number: int, kernel: Kernel, place: Position | None, short: Mapping[str, str]) -> dict[str, str]:
    return {
        "number": str(number),
        "name": short[kernel.name],
        "whole": plain_text(kernel.name)[:2000],
        "kind": _kind(kernel.kind),
        "class": kernel.kind.value,
        "calls": str(kernel.calls),
        "total": time_text(kernel.total_ns) if kernel.total_ns is not None else "-",
        "share": "-" if kernel.share_percent is None else f"{kernel.share_percent:.2f} %",
        "mean": time_text(kernel.mean_ns) if kernel.mean_ns is not None else "-",
        "sd": time_text(kernel.sd_ns) if kernel.sd_ns is not None else "-",
        "occupancy": f"{kernel.occupancy.resident[0].percent:.0f} %" if kernel.occupancy else "-",
        "bound": "-" if place is None or place.bound is Bound.UNKNOWN else place.bound.removesuffix("-bound"),
        "reason": place.reason if place else "",
    }


def _timeline(profile: Profile, short: Mapping[str, str]) -> dict[str, Any]:
    """Return the data of the timeline: names, classes and colours, and for each track the gaps between starts, the durations
    (ns) and the kernels (places in names) of its dispatches in order of their starts.
    """
    first = min((min(track.starts) for track in profile.tracks if track.starts), default=0)
    kinds = list(COLOURS)
    left = EVENTS_MOST
    tracks = []
    for track in profile.tracks:
        tracks.append(_track(track, first, left))
        left -= len(tracks[-1]["starts"])
    return {
        "names": [short[kernel.name] for kernel in profile.kernels],
        "kinds": [kinds.index(kernel.kind) for kernel in profile.kernels],
        "classes": [kind.value for kind in kinds],
        "colours": [COLOURS[kind] for kind in kinds],
        "tracks": tracks,
    }


def _track(track: Track, first: int, most: int) -> dict[str, Any]:
    order = sorted(range(len(track.starts)), key=track.starts.__getitem__)[: max(most, 0)]
    starts = [track.starts[number] - first for number in order]
    return {
        "device": one_line(track.device, 60),
        "starts": [start - before for before, start in zip([0, *starts], starts, strict=False)],
        "durations": [track.ends[number] - track.starts[number] for number in order],
        "kernels": [track.kernels[number] for number in order],
    }


def _kind(kind: str) -> str:
    return kind.lower().replace(" ", "-")


def _json(value: object) -> str:
    return json.dumps(value, separators=(",", ":")).replace("<", "\\u003c")


def _policy(style: str, script: str) -> str:
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    own = f"style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'"
    return f"default-src 'none'; {own}; base-uri 'none'; form-action 'none'"


def _environment() -> Environment:
    return Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@functools.cache
def _text(name: str) -> str:
    return resources.files(FOLDER).joinpath(name).read_text(encoding="utf-8")
