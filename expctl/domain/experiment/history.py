"""What a record of an imported ledger has of the row that it was made of."""

from msgspec import Struct


class History(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The texts of one row of an imported, hand-written ledger; `result` has its figures."""

    change: str
    result: str
    why: str
    corrections: tuple[str, ...] = ()
