"""One script of the harness, as protocol.yaml names it."""

from __future__ import annotations

from msgspec import Struct


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One script of the harness (docs/HARNESS.md). `careful` are further words where a patch removes a barrier or a wait.

    `counters` belong to a profile step that starts rocprofv3 or ncu; `timeout_s` is for each of its passes.
    """

    argv: tuple[str, ...]
    timeout_s: float
    careful: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
