"""Render the HTML page of `expctl report`: one file that needs no other and asks no network.

Every value is escaped for HTML unless it is a `Markup` that a function of this room made of escaped parts. The page's policy
(CSP) allows its own script and style by their hashes, and nothing else.
"""

from __future__ import annotations

import base64
import functools
import hashlib
from collections.abc import Iterable, Sequence
from importlib import resources
from typing import TYPE_CHECKING

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from expctl.domain.experiment.figures import interval_text
from expctl.domain.experiment.predictions import accuracy_text, prediction_text
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.history.blind import false_keep_text, rates_text
from expctl.domain.text import one_line, plain_text
from expctl.views.ledger.document import baseline_text, gained_text, now_text, peak_text, standing_text, tally_text
from expctl.views.ledger.findings import about
from expctl.views.ledger.rivals import beside_text
from expctl.views.page.effects import css_of, effect_of, forests, row_axis, row_plot, sizes_plot
from expctl.views.page.experiment import differences, line_kept, patch_html, rounds_plot, tails_plot
from expctl.views.page.history import foretold_plot, gain_text, noise_plot, path_plot, waterfall_plot
from expctl.views.report import record_lines

if TYPE_CHECKING:
    from expctl.domain.experiment.record import Record
    from expctl.domain.ledger.account import Account, Part
    from expctl.domain.ledger.model import TargetState

FOLDER = "expctl.views.page"
PAGE_BYTES, ROW_BYTES, PARTS_LEAST = 4_600_000, 1_100, 1_000_000
"""How large the page may get, what a row takes in list and plots, and what the experiments in full may take at least. As many
as fit are shown in full, the newest first; the page says how many it shows as a line alone.
"""
TITLE_MAX, WHY_MAX, TEXT_MAX = 90, 160, 1200


def render(account: Account, parts: Iterable[Part], *, follows: str = "") -> str:
    """Return the page as text. `parts` come in the order of the account's rows; they are read until the page is full.

    `follows` names the version of what is shown, for a page that asks its server now and then whether there is another.
    """
    shown, left = {}, max(PARTS_LEAST, PAGE_BYTES - ROW_BYTES * len(account.rows))
    template = _template("experiment.html.j2")
    for part in parts:
        text = template.render(part=part, **_about(part, account))
        left -= len(text.encode())
        if left < 0:
            break
        shown[part.record.id] = Markup(text)  # noqa: S704  the template has escaped it
    style, script = _text("page.css"), _text("page.js")
    return _template("page.html.j2").render(
        account=account,
        ledger=account.ledger,
        parts=shown,
        style=Markup(style),  # noqa: S704  our own file
        script=Markup(script),  # noqa: S704  as above
        policy=_policy(style, script, follows=bool(follows)),
        follows=follows,
        **_plots(account),
    )


def _plots(account: Account) -> dict[str, object]:
    """Return the plots of the page by the names that its template uses."""
    targets = list(dict.fromkeys([*(each.name for each in account.ledger.targets), *(each.target for each in account.epochs)]))
    by_target = {name: [each for each in account.noise if each.target == name] for name in targets}
    audits = {(each.target, each.epoch): each for each in account.audited}
    return {
        "forests": forests(account.rows, account.ledger.protocol.keep),
        "paths": [path_plot(name, [each for each in account.epochs if each.target == name]) for name in targets],
        "waterfalls": [
            waterfall_plot(each.path, audits.get((each.name, each.path.epoch))) for each in account.ledger.targets if each.path
        ],
        "noises": [noise_plot(name, seen) for name, seen in by_target.items() if seen],
        "foretold": foretold_plot(account.foretold),
        "axis": row_axis(account.rows),
    }


def _about(part: Part, account: Account) -> dict[str, object]:
    """Return what the template of an experiment needs besides its part."""
    record, compared = part.record, differences(part.profile)
    name, told = record.id, tuple(each.name for each in compared)
    sizes = dict.fromkeys([*(each.size for each in record.estimates), *(each.size for each in part.spreads)])
    spread = {each.size for each in part.spreads}
    return {
        "sentence": sentence(record),
        "rounds": rounds_plot(part.picture) if part.picture else "",
        "sizes": sizes_plot(name, record.estimates, record.verdict),
        "tails": [tails_plot(name, size, part.spreads) for size in sizes if size in spread],
        "differences": compared,
        "builds": [text for text in record.profile if not text.startswith(told)],
        "lines": record_lines(record, account.ledger.protocol.references),
        "patch": patch_html(part.patch, f"experiments/{name}/change.patch") if part.patch else "",
    }


def sentence(record: Record) -> str:
    """Return the verdict of a record in one sentence: what it is, and its first reason."""
    return f"{record.verdict}: {record.reasons[0]}" if record.reasons else str(record.verdict)


def _policy(style: str, script: str, *, follows: bool) -> str:
    """Return the page's Content-Security-Policy. A saved page may connect to nothing, a served one to its own server."""
    hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in (style, script)]
    rules = (
        "default-src 'none'",
        f"style-src 'sha256-{hashes[0]}'",
        f"script-src 'sha256-{hashes[1]}'",
        "img-src blob:",  # a plot on its way to a PNG
        "connect-src 'self'" if follows else "connect-src 'none'",
        "base-uri 'none'",
        "form-action 'none'",
    )
    return "; ".join(rules)


def _text(name: str) -> str:
    return resources.files(FOLDER).joinpath(name).read_text(encoding="utf-8")


@functools.cache
def _template(name: str) -> Template:
    environment = Environment(autoescape=True, finalize=_shown, trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    environment.globals |= {each.__name__.removesuffix("_text"): each for each in _FUNCTIONS}
    return environment.from_string(_text(name))


def _shown(value: object) -> object:
    """Return a value of a template as text without control and bidirectional characters; a `Markup` stays as it is."""
    return value if isinstance(value, Markup) else plain_text(str(value))


def gained(target: TargetState) -> str:
    """Return what the kept changes of a target's epoch gave together, as the ledger says it."""
    return gained_text(target).replace("**", "")


def verdicts(account: Account) -> Sequence[Verdict]:
    """Return the verdicts that occur in the account, in the order of their importance."""
    present = {row.verdict for row in account.rows}
    return [each for each in Verdict if each in present]


def held(account: Account, rule: str) -> str:
    """Return the state of a do-not-repeat rule by its experiment: open again, ends with the next run, or holds."""
    ledger = account.ledger
    return "open again" if rule in ledger.reopened else "the next run ends it" if rule in ledger.ending else "holds"


_FUNCTIONS = (
    *(now_text, peak_text, gained, beside_text, baseline_text, standing_text, tally_text, about, gain_text),
    *(rates_text, false_keep_text, accuracy_text, prediction_text, one_line, css_of, effect_of, row_plot),
    *(verdicts, held, line_kept, interval_text),
)
