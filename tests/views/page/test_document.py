"""The page is one file that loads nothing, shows hostile text as text, and stays as small as it promises."""

import base64
import hashlib
import json
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from expctl.domain.experiment.finding import EvidenceKind, Finding
from expctl.domain.experiment.record import Fact
from expctl.domain.history.audit import audited_effect
from expctl.domain.ledger.account import Part
from expctl.domain.text import is_unseen
from expctl.views.page.document import render
from tests.views.page.accounts import account, part, parts, retitled, some_records
from tests.views.page.reading import Read

SCRIPT_MOST, EMPTY_MOST, WHOLE_MOST = 20_000, 100_000, 5_000_000
HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</title></style></script><svg onload=alert(1)>",
    "{{ 7 * 7 }} {% for x in y %}",
    "' onmouseover='alert(1)",
    "<!--",
    "]]>&amp;&lt;b&gt;",
    "javascript:alert(1) //http://evil.example/x.js",
)
UNSEEN = "a\x1b[31mred\u202egnp\u200b\x00b"
AUDIT = (
    "Audit of here, epoch 1: 4f2c91ab4f2c against the first baseline 0123456789ab measures +4.20 % [+3.10, +5.30];"
    " the changes between (P3) add up to +4.00 % [+3.00, +5.00]."
)


def test_hostile_texts_are_shown_as_texts() -> None:
    found = some_records(len(HOSTILE) + 3, 1)
    found = [retitled(each, f"{HOSTILE[number % len(HOSTILE)]} {UNSEEN}") for number, each in enumerate(found)]
    calm = render(made := account(some_records(len(found), 1)), parts(made, some_records(len(found), 1)))
    made = account(
        found, [Finding(text=text, since="P1", kind=EvidenceKind.MEASURED, id=f"F{n}") for n, text in enumerate(HOSTILE)]
    )
    whole = [
        replace(
            each, profile={"baseline": (Fact(name=HOSTILE[0], value=1.0),)}, patch="\n".join(f"+{text}" for text in HOSTILE)
        )
        for each in parts(made, found)
    ]
    page = render(made, whole)
    read = Read.of(page)
    assert set(read.tags) <= set(Read.of(calm).tags) | {"ul", "ins"}
    assert (read.tags.count("script"), read.tags.count("style"), read.tags.count("img")) == (1, 1, 0)
    assert [each for each in read.attributes if each[1].startswith("on")] == []
    assert [text for text in HOSTILE if text not in read.text] == []
    assert [letter for letter in page if is_unseen(letter) and letter != "\n"] == []


def test_it_loads_nothing() -> None:
    found = some_records(30, 1)
    made = account(found)
    read = Read.of(render(made, parts(made, found)))
    assert {value[0] for _, name, value in read.attributes if name in ("href", "src")} == {"#"}
    assert [each for each in read.tags if each in ("link", "img", "iframe", "object", "embed", "base", "form")] == []
    assert not re.search(r"url\(|@import", read.raw["style"])


@pytest.mark.parametrize(("follows", "connects"), [("", "connect-src 'none'"), ("4f2c91a", "connect-src 'self'")])
def test_its_policy_allows_its_own_script_alone(follows: str, connects: str) -> None:
    read = Read.of(render(account([]), [], follows=follows))
    policy = next(
        value for tag, name, value in read.attributes if tag == "meta" and "default-src" in value and name == "content"
    )
    rules = policy.split("; ")
    assert rules[0] == "default-src 'none'"
    assert connects in rules
    for kind in ("script", "style"):
        digest = base64.b64encode(hashlib.sha256(read.raw[kind].encode()).digest()).decode()
        assert f"{kind}-src 'sha256-{digest}'" in rules
    assert "unsafe" not in policy


def test_an_empty_page_is_small_and_says_what_to_type() -> None:
    page = render(account([]), [])
    assert len(page.encode()) <= EMPTY_MOST
    assert len(Read.of(page).raw["script"].encode()) <= SCRIPT_MOST
    assert "expctl new --from-diff" in page


@pytest.mark.parametrize("lines", [5, 2000])
def test_two_thousand_experiments_stay_below_five_megabytes(lines: int) -> None:
    found = some_records(2000, 1)
    made, by_id = account(found), {each.id: each for each in found}
    patch = "\n".join(f"+{number} {'x' * 190}" for number in range(lines))
    read: list[str] = []

    def whole() -> Iterator[Part]:
        for row in made.rows:
            read.append(row.id)
            yield part(by_id[row.id], found[:1], patch)

    page = render(made, whole())
    said = re.search(r"The newest (\d+) are here in full, the other (\d+) as a line", page)
    assert said is not None
    assert len(page.encode()) <= WHOLE_MOST
    assert (int(said[1]), int(said[2])) == (len(read) - 1, 2000 - len(read) + 1)
    assert int(said[1]) >= 20


def test_every_plot_is_sound_xml() -> None:
    found = some_records(60, 4)
    made = account(found, [Finding(text=AUDIT, since="P3", kind=EvidenceKind.MEASURED, id="F1")])
    page = render(made, parts(made, found))
    plots = re.findall(r"<svg.*?</svg>", page, re.DOTALL)
    assert len(plots) > 60
    for plot in plots:
        ET.fromstring(plot)


def test_verdict_first_then_points_then_the_rest_folded() -> None:
    found = some_records(30, 1)
    record = next(each for each in reversed(found) if each.estimates)
    page = render(account(found), [part(record, found)])
    begin = page.index('<div class="part">')
    order = [
        page.index(text, begin) for text in (f"{record.verdict}: ", "rounds of both sides", "<details>", "Each size", "Patch<")
    ]
    assert order == sorted(order)


def test_an_audit_stands_beside_the_product() -> None:
    found = some_records(60, 4)
    made = account(found, [Finding(text=AUDIT, since="P3", kind=EvidenceKind.MEASURED, id="F1")])
    assert audited_effect(AUDIT) == ("here", 1, (4.2, 3.1, 5.3))
    assert made.audited[0].effect == (4.2, 3.1, 5.3)
    page = render(made, [])
    path = next(each for each in made.ledger.targets if each.name == "here").path
    shown = "measured: +4.20 % [+3.10, +5.30], all kept changes measured together again (finding F1)" in page
    assert shown is (path is not None and path.epoch == 1)


BROWSERS = ("chromium", "chromium-browser", "google-chrome")
BROWSER = next((found for name in BROWSERS if (found := shutil.which(name))), "")
QUIET = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
QUIET += ["--disable-component-update", "--disable-sync", "--enable-logging=stderr", "--virtual-time-budget=3000"]


@pytest.mark.skipif(not BROWSER, reason="needs chromium: apt-get install chromium")
def test_a_browser_runs_its_script_without_an_error(tmp_path: Path) -> None:
    found = some_records(40, 1)
    made = account(found)
    file = tmp_path / "page.html"
    file.write_text(render(made, parts(made, found)))
    argv = [BROWSER, *QUIET, f"--user-data-dir={tmp_path / 'profile'}", "--dump-dom", f"{file.as_uri()}#{found[-1].id}"]
    answer = subprocess.run(argv, capture_output=True, text=True, timeout=120, check=False)
    if answer.returncode:
        pytest.skip(f"the browser doesn't start here: {answer.stderr[-300:]}")
    assert [line for line in answer.stderr.splitlines() if "CONSOLE" in line] == []
    assert f"{len(found)} experiments</span>" in answer.stdout
    assert re.search(rf'id="{found[-1].id}"[^>]* open=""', answer.stdout)
    assert 'aria-label="Save noise-here as PNG"' in answer.stdout


@pytest.mark.skipif(not shutil.which("node"), reason="needs node")
def test_the_script_is_sound() -> None:
    script = Read.of(render(account([]), [])).raw["script"]
    answer = subprocess.run(["node", "--check", "-"], input=script, capture_output=True, text=True, check=False)
    assert (answer.returncode, answer.stderr) == (0, "")


def test_the_model_is_json() -> None:
    import msgspec

    found = some_records(20, 1)
    assert json.loads(msgspec.json.encode(account(found)))["rows"]
