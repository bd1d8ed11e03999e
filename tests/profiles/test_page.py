"""The page of a profile and its trace for Perfetto, by what a reader and a browser must find in them."""

import base64
import hashlib
import json
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from expctl.profiles.assemble.analysis import Problem, analyse
from expctl.profiles.read_profile import read_profile
from expctl.profiles.readers.rocprof import rocpd_dispatches
from expctl.profiles.views.page.document import EVENTS_MOST, page_html
from expctl.profiles.views.perfetto import perfetto_trace
from tests.profiles.large_profiles import rocpd
from tests.profiles.torch_traces import Launched, write_trace

BERT = "torch_cuda12.4_h100.json"


def page(path: Path) -> str:
    profile = read_profile(path, dispatches=True)
    analysis = analyse(profile, profile.kernels, Problem())
    return page_html(profile, analysis.kernels, analysis.positions, analysis.peak)


def data_of(text: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    document: dict[str, Any] = json.loads(found[1])
    return document


def test_the_timeline_holds_every_dispatch_with_its_kernel(golden: Callable[[str], Path]) -> None:
    profile = read_profile(golden(BERT), dispatches=True)
    data = data_of(page(golden(BERT)))
    (track,) = data["tracks"]
    assert len(track["starts"]) == profile.calls == 60
    totals = [0] * len(profile.kernels)
    for kernel, duration in zip(track["kernels"], track["durations"], strict=True):
        totals[kernel] += duration
    assert totals == [kernel.total_ns for kernel in profile.kernels]
    assert sum(track["starts"][1:]) + track["durations"][-1] == profile.timelines[0].span_ns
    assert len(set(data["names"])) == len(profile.kernels)


def test_a_long_name_may_break_between_its_words_alone(tmp_path: Path) -> None:
    text = page(
        write_trace(tmp_path / "a.json", [Launched(name="void at::native::long_elementwise_kernel<4, at::neg_op<i>>()")])
    )
    assert ">long_<wbr>elementwise_<wbr>kernel<wbr>&lt;neg_<wbr>op&gt;</td>" in text


def test_the_roofline_has_a_numbered_point_for_each_kernel_with_flop(golden: Callable[[str], Path]) -> None:
    svg = re.search(r"<svg.*?</svg>", page(golden(BERT)), re.DOTALL)
    assert svg is not None
    root = ET.fromstring(svg[0])
    space = "{http://www.w3.org/2000/svg}"
    titles = [each.text or "" for each in root.iter(f"{space}title")]
    assert [title.partition(":")[0] for title in titles] == ["1", "2", "3", "4", "6"]
    assert any("bf16: 1071 TFLOP/s, 3352 GB/s" in "".join(each.itertext()) for each in root.iter(f"{space}text"))
    places = [(float(each.get("cx", 0)), float(each.get("cy", 0))) for each in root.iter(f"{space}circle")]
    assert len(places) == len(titles)
    assert all(0 < x < 760 and 0 < y < 360 for x, y in places)


def test_foreign_names_are_text_and_the_policy_allows_only_our_script(tmp_path: Path) -> None:
    evil = "</script><script>alert(1)</script><img src=x>"
    text = page(write_trace(tmp_path / "t.json", [Launched(name=evil), Launched(name="gemm")]))
    assert "<img" not in text
    assert text.count("<script") == 2
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)[-1]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert f"script-src &#39;sha256-{digest}&#39;" in text


def test_a_database_read_by_two_processes_keeps_its_dispatches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rocpd(tmp_path / "r.db", 3000)
    monkeypatch.setattr(rocpd_dispatches, "ROWS_FOR_TWO", 1000)
    monkeypatch.setattr(rocpd_dispatches, "usable_cores", lambda: 2)
    plain, kept = read_profile(tmp_path / "r.db"), read_profile(tmp_path / "r.db", dispatches=True)
    assert (plain.tracks, plain.kernels) == ((), kept.kernels)
    (track,) = kept.tracks
    totals: dict[int, int] = {}
    for start, end, kernel in zip(track.starts, track.ends, track.kernels, strict=True):
        totals[kernel] = totals.get(kernel, 0) + end - start
    assert totals == {place: kernel.total_ns for place, kernel in enumerate(kept.kernels)}
    assert len(data_of(page(tmp_path / "r.db"))["tracks"][0]["starts"]) == 3000 < EVENTS_MOST


def test_perfetto_gets_every_dispatch_and_no_overlap_on_a_thread(tmp_path: Path) -> None:
    rocpd(tmp_path / "r.db", 500, overlapping=True)
    profile = read_profile(tmp_path / "r.db", dispatches=True)
    events = [each for each in json.loads(perfetto_trace(profile, {}))["traceEvents"] if each["ph"] == "X"]
    assert len(events) == profile.calls
    assert sum(round(1e3 * each["dur"]) for each in events) == profile.total_ns
    threads: dict[int, float] = {}
    assert len({each["tid"] for each in events}) > 1
    for each in sorted(events, key=lambda event: event["ts"]):
        assert each["ts"] >= threads.get(each["tid"], 0.0) - 1e-6
        threads[each["tid"]] = each["ts"] + each["dur"]


def test_as_typed(golden: Callable[[str], Path], tmp_path: Path, show: Callable[..., Any]) -> None:
    shown = show(golden(BERT), "--html", tmp_path / "p.html", "--perfetto", tmp_path / "p.json")
    assert shown.status == 0
    assert (tmp_path / "p.html").read_text().startswith("<!doctype html>")
    events = json.loads((tmp_path / "p.json").read_bytes())["traceEvents"]
    assert len({each["name"] for each in events} - {"process_name"}) == len(read_profile(golden(BERT)).kernels)
    counted = show(golden("rocprofv3_7.0_doc_counter_collection.csv"), "--perfetto", tmp_path / "q.json")
    assert (counted.status, "no-dispatches-recorded" in counted.err) == (2, True)
