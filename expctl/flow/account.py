"""Read what the HTML page of `expctl report` is made of. Takes no lock."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from expctl.domain.errors import Refused
from expctl.domain.history.epochs import epochs_of
from expctl.domain.ledger.account import Account, Part, account_of
from expctl.domain.verdict.interference import counted
from expctl.domain.verdict.samples import MalformedRound
from expctl.domain.verdict.spread import spreads_of
from expctl.flow.repository.ledger_inputs import read_ledger
from expctl.flow.repository.standing_records import with_times

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.verdict.plot_data import Picture
    from expctl.domain.verdict.spread import SideSpread
    from expctl.ports.repository import Library


def read_account(
    library: Library, head: str, *, branch: str, picture: Callable[[Record], Picture], since: Sequence[str] = ()
) -> tuple[Account, Iterator[Part]]:
    """Return the page's contents at the commit `head`, and what it shows of each experiment in the order of its rows. The parts
    are read one by one as they are asked for. `picture` computes the plot of a record's rounds.
    """
    records = {each.id: each for each in library.records(head)}
    account = account_of(
        read_ledger(library, head),
        library.digests(head),
        records.values(),
        library.ledger_totals(head).rules,
        head=head,
        branch=branch,
        since=since,
    )
    epochs = epochs_of(records.values())

    def parts() -> Iterator[Part]:
        for row in account.rows:
            record = with_times(library, head, records[row.id])
            drawn, spreads, missing = _measured(library, head, record, picture)
            yield Part(
                record=record,
                epoch=epochs.of.get(row.id),
                picture=drawn,
                spreads=spreads,
                missing=missing,
                profile=library.profiles(head, [row.id]).get(row.id, {}),
                patch=library.patches(head, [row.id]).get(row.id, b"").decode(errors="replace"),
            )

    return account, parts()


def _measured(
    library: Library, head: str, record: Record, picture: Callable[[Record], Picture]
) -> tuple[Picture | None, tuple[SideSpread, ...], str]:
    """Return a record's rounds and the spread of its times; where its samples can't be read, none of them and why."""
    if not record.estimates:
        return None, (), ""
    try:
        return picture(record), spreads_of(counted(library.read_samples(head, record.id))), ""
    except Refused as refusal:
        return None, (), refusal.message
    except MalformedRound as error:
        return None, (), str(error)
