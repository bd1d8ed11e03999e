"""What protocol.yaml says of ledger.md."""

from msgspec import Struct


class LedgerLayout(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Layout of ledger.md: path of a Jinja2 `template` in the repository, empty for the built-in one."""

    template: str = ""
