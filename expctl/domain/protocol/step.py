"""A step of protocol.yaml: one script of the harness."""

from __future__ import annotations

from msgspec import Struct


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One script of the harness (docs/HARNESS.md). `careful` are extra arguments where a patch removes a barrier or wait.

    `counters` belong to a profile step that starts rocprofv3 or ncu; `timeout_s` limits each of its passes.
    """

    argv: tuple[str, ...]
    timeout_s: float
    careful: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
