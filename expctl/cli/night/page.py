"""The options `--html` and `--serve` of `expctl report`: the whole account as one HTML page, in a file or followed live."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.adapters.git.reader import Place
    from expctl.cli.night.watch import LiveState
    from expctl.flow.live import Live

Since = Callable[[], Sequence[str]]
"""What `expctl report --since` prints of the time that was asked for, read when the page is made."""


def page_of(place: Place, since: Since, *, follows: str = "") -> str:
    """Return the page of a repository at HEAD. `since` are the lines that `expctl report --since` prints, or none."""
    from expctl import wiring
    from expctl.flow.account import read_account
    from expctl.views.page.document import render

    git = wiring.reader(place)
    picture = wiring.pictures(place, git).of_record
    library, head = wiring.library(git), git.found_head()
    account, parts = read_account(library, head, branch=git.branch(), picture=picture, since=since())
    return render(account, parts, follows=follows)


def write_page(place: Place, file: Path, since: Since) -> None:
    """Write the page to a file. Raises Refused if that can't be written."""
    from expctl.cli.output import print_lines, write_file

    write_file(file, page_of(place, since).encode())
    print_lines([f"{file} written; it needs no network and no other file"])


def serve(place: Place, port: int, since: Since) -> None:
    """Serve the page on the loopback address until Ctrl-C, which ends it with status 0. Raises Refused if the port is taken."""
    from expctl.adapters.page_server import PageServer
    from expctl.cli.night.watch import LiveState
    from expctl.cli.output import print_lines

    shown = ServedPage(place, since, LiveState(place))
    with PageServer(port, shown.page, shown.live) as server:
        try:
            print_lines([f"{server.address} follows this repository; Ctrl-C ends it"])
            server.serve_forever(poll_interval=0.5)
        except KeyboardInterrupt:
            print_lines(["", "ended"])


class ServedPage:
    """Makes the page when HEAD has moved, and the part about the present run when that got on; otherwise they are kept."""

    def __init__(self, place: Place, since: Since, state: LiveState) -> None:
        self._place, self._since, self._state = place, since, state
        self._page: tuple[str, str] = ("", "")

    def page(self) -> tuple[str, str]:
        """Return the version of the page, the commit that it shows, and its HTML."""
        from expctl.adapters.git.reader import locate

        place = locate(self._place.root)
        if self._page[0] != place.head:
            self._page = place.head, page_of(place, self._since, follows=place.head)
        return self._page

    def live(self) -> tuple[str, str]:
        """Return the commit of which a page is to be shown now, and the HTML of the run under way ("" without one)."""
        live = self._state.look()
        return (live.status.head, live_html(live)) if live is not None else ("", "")


def live_html(live: Live) -> str:
    """Return what runs now as HTML: the lines of `status --watch`, and the rounds so far; "" if nothing runs."""
    from markupsafe import Markup

    from expctl.cli.night.screen import watch_texts
    from expctl.views.page.experiment import rounds_plot

    if not live.status.running:
        return ""
    rows = Markup().join(Markup("<dt>{}</dt><dd>{}</dd>").format(*each) for each in watch_texts(live).items())
    picture = live.run.picture if live.run is not None else None
    plot = rounds_plot(picture) if picture is not None else Markup()
    return Markup("<h2>Running now</h2><dl>{}</dl>{}").format(rows, plot)
