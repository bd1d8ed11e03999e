"""The part of a served page that follows the run under way."""

from __future__ import annotations

from typing import TYPE_CHECKING

from markupsafe import Markup

from expctl.views.page.experiment import rounds_plot
from expctl.views.watch import watch_texts

if TYPE_CHECKING:
    from expctl.flow.live import Live


def live_html(live: Live) -> Markup:
    """Return what runs now as HTML: the lines of `status --watch`, and the rounds so far; "" if nothing runs."""
    if not live.status.running:
        return Markup()
    texts = watch_texts(live)
    rows = Markup().join(Markup("<dt>{}</dt><dd>{}</dd>").format(*each) for each in texts.items())
    picture = live.run.picture if live.run is not None else None
    plot = rounds_plot(picture) if picture is not None else Markup()
    return Markup("<h2>Running now</h2><dl>{}</dl>{}").format(rows, plot)
