"""The options `--html` and `--serve` of `expctl report`: the whole account as one HTML page, in a file or followed live."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.adapters.git.reader import Place
    from expctl.cli.night.watch import LiveState


def page_of(place: Place, since: str = "", *, follows: str = "") -> str:
    """Return the page of a repository at HEAD. `since` adds what `expctl report --since` prints of that time."""
    from expctl import wiring
    from expctl.cli.night.report import report_lines
    from expctl.flow.account import read_account
    from expctl.flow.autopilot.report import began_at, report_since
    from expctl.views.page.document import render

    git = wiring.reader(place)
    library, head = wiring.library(git), git.found_head()
    lines: list[str] = []
    if since:
        lines = list(report_lines(report_since(library, head, wiring.night(place).events(), since=began_at(since))))
    picture = wiring.pictures(place, git).of_record
    account, parts = read_account(library, head, branch=git.branch(), picture=picture, since=lines)
    return render(account, parts, follows=follows)


def write_page(place: Place, file: Path, since: str) -> None:
    """Write the page to a file. Raises Refused if that can't be written."""
    from expctl.cli.output import print_lines, write_file

    write_file(file, page_of(place, since).encode())
    print_lines([f"{file} written; it needs no network and no other file"])


def serve(place: Place, port: int, since: str) -> None:
    """Serve the page on the loopback address until Ctrl-C, which ends it with status 0. Raises Refused if the port is taken."""
    from expctl.adapters.page_server import PageServer
    from expctl.cli.night.watch import LiveState
    from expctl.cli.output import print_lines

    shown = ServedPage(place, since, LiveState(place))
    with PageServer(port, shown.page, shown.live) as server:
        print_lines([f"{server.address} follows this repository; Ctrl-C ends it"])
        try:
            server.serve_forever(poll_interval=0.5)
        except KeyboardInterrupt:
            print_lines(["", "ended"])


class ServedPage:
    """Makes the page when HEAD has moved, and the part about the present run when that got on; otherwise they are kept."""

    def __init__(self, place: Place, since: str, state: LiveState) -> None:
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
        from expctl.views.page.live import live_html

        live = self._state.look()
        return (live.status.head, live_html(live)) if live is not None else ("", "")
