"""A run that isn't finished: how far its measurement is, and the plot of its rounds so far."""

from msgspec import Struct

from expctl.domain.verdict.outlook import Outlook
from expctl.domain.verdict.plot_data import Picture


class UnderWay(Struct, frozen=True, kw_only=True):
    """The run of the experiment `id` on `target`, begun at `since`. `outlook` and `picture` are None before its first round."""

    id: str
    title: str
    target: str
    since: str
    outlook: Outlook | None = None
    picture: Picture | None = None
