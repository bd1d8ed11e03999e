"""A test, benchmark or profile script in protocol.yaml."""

from msgspec import Struct


class Step(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The command of a test or profile (docs/HARNESS.md).

    `careful` are added to its arguments if a patch removes a barrier or wait. `counters` are for a profile command that starts
    rocprofv3 or ncu, which may run in several passes; `timeout_s` limits each one.
    """

    argv: tuple[str, ...]
    timeout_s: float
    careful: tuple[str, ...] = ()
    counters: tuple[str, ...] = ()
