"""A harness in ten lines keeps docs/HARNESS.md: nonces, times, checks, statuses."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.harness.conftest import BEGIN, BUILD, HARNESS, TEST, TIMED, Serve, changed


def test_a_test_has_a_case_for_each_size(serve: Serve) -> None:
    harness = changed(HARNESS, "    rel_l2", "    test_sizes = {'n=1': dict(n=1), 'none': dict(n=0)}\n    rel_l2")
    status, said = serve(TEST, harness=harness)
    assert status == 0
    assert [(each["event"], each.get("name")) for each in said[:-1]] == [("case", "n=1"), ("case", "none"), ("case", "n=4096")]
    assert said[-1] == {"event": "end", "nonce": "ab", "ok": True}
    assert {each["nonce"] for each in said} == {"ab"}
    assert said[0]["contract"] == 1
    assert said[0]["facts"]["launches"] == 2


def test_a_worker_times_each_iteration(serve: Serve) -> None:
    status, said = serve(TIMED)
    assert (status, [each["event"] for each in said]) == (0, ["ready", "sample", "checked", "end"])
    assert len(said[1]["ns"]) == 4
    assert all(isinstance(ns, int) and ns > 0 for ns in said[1]["ns"])
    assert "outside_ns" not in said[1]  # expctl's own clock is further outside


def test_the_end_of_input_is_an_end(serve: Serve) -> None:
    assert [each["event"] for each in serve(TIMED[:2])[1]] == ["ready", "sample", "end"]


@pytest.mark.parametrize("words", [(), ("--profile",)])
def test_without_a_request_it_profiles(serve: Serve, words: tuple[str, ...]) -> None:
    status, said = serve((), *words)
    assert status == 0
    kinds = {each["name"]: each["kind"] for each in said[:-1]}
    assert kinds == {"launches n=4096": "exact_count", "median time n=4096": "wall_time", "artifact size": "static"}


def test_both_sides_get_the_same_inputs_and_each_call_others(serve: Serve, tmp_path: Path) -> None:
    noted = changed(BUILD, "    out[:] = x\n", "    print(float(x[0]), file=open('seen', 'a'))\n    out[:] = x\n")
    seen = []
    for _ in range(2):
        (tmp_path / "seen").unlink(missing_ok=True)
        assert serve(TIMED, build=noted)[0] == 0
        seen.append((tmp_path / "seen").read_text().split()[-4:])
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 4


WRONG_BUILDS = {
    "wrong": ("    out += y\n", "    out -= y\n", "expected"),
    "last element": ("    out += y\n", "    out[:-1] += y[:-1]\n", "result[4095] is"),
    "not written": ("    out[:] = x\n    out *= a\n    out += y\n", "    out[1:] = (a * x + y)[1:]\n", "never written"),
    "input changed": ("    out += y\n", "    out += y\n    x[0] = 1\n", "the call changed input 1"),
    "raises": ("    out += y\n", "    out += z\n", "the build raised NameError: name 'z' is not defined (build.py:4, in axpy)"),
    "no Python": ("    out += y\n", "    out +=\n", "build.py can't be imported: SyntaxError"),
}


@pytest.mark.parametrize("case", WRONG_BUILDS)
def test_a_wrong_build_is_blamed(serve: Serve, case: str) -> None:
    before, after, reason = WRONG_BUILDS[case]
    for requests in (TEST, TIMED):
        status, said = serve(requests, build=changed(BUILD, before, after))
        assert (status, said[-1]["ok"], "fault" in said[-1], "repeat" in said[-1]) == (1, False, False, False)
    status, said = serve(TEST, build=changed(BUILD, before, after))
    assert reason in said[-1]["reason"]


def test_work_that_a_timed_call_leaves_out_is_seen(serve: Serve) -> None:
    lazy = (
        "calls = []\n\n\ndef axpy(x, y, a, out):\n    calls.append(1)\n    if len(calls) < 9000:\n        out[:] = a * x + y\n"
    )
    status, said = serve((BEGIN, {"do": "time", "size": "n=4096", "iterations": 9000}, {"do": "end"}), build=lazy)
    assert status == 1
    assert "timed call" in said[-1]["reason"]
    assert "poison" in said[-1]["reason"]


def test_the_spots_are_compared_with_the_reference(serve: Serve) -> None:
    stale = changed(BUILD, "    out[:] = x\n", "    x = kept.setdefault('x', x)\n    out[:] = x\n")
    status, said = serve(TIMED, build="kept = {}\n\n\n" + stale)
    assert status == 1
    assert "timed call" in said[-1]["reason"]
    assert "expected" in said[-1]["reason"]


def test_a_result_may_be_returned(serve: Serve) -> None:
    harness = changed(HARNESS, "    def outputs(self, n):\n        return np.empty(n),\n\n", "")
    harness = changed(harness, "y, a, out):\n        build.axpy(x, y, a, out)", "y, a):\n        return build.axpy(x, y, a)")
    for build, status in (("def axpy(x, y, a): return a * x + y", 0), ("def axpy(x, y, a): return a * y + x", 1)):
        assert serve(TEST, harness=harness, build=build)[0] == serve(TIMED, harness=harness, build=build)[0] == status


def test_an_own_check_replaces_the_limits(serve: Serve) -> None:
    own = "    def check(self, got, expected, x, y, a):\n        return 'far off' if max(abs(got - expected)) > 9 else None\n"
    harness = changed(HARNESS, "\nserve", own + "\n\nserve")
    assert serve(TEST, harness=harness, build=changed(BUILD, "    out += y\n", "    out += 1\n"))[0] == 0
    assert (
        serve(TEST, harness=harness, build=changed(BUILD, "    out += y\n", "    out += 99\n"))[1][-1]["reason"]
        == "n=4096: far off"
    )


def test_a_person_reads_a_table(serve: Serve, tmp_path: Path) -> None:
    serve(TEST)
    ran = subprocess.run(
        [sys.executable, "bench.py", "build.py", "--iterations", "5"], cwd=tmp_path, capture_output=True, text=True
    )
    assert ran.returncode == 0
    assert ran.stdout.startswith("ok   n=4096")
    assert "median us" in ran.stdout


def test_imported_it_does_nothing(serve: Serve, tmp_path: Path) -> None:
    serve(TEST)
    assert subprocess.run([sys.executable, "-c", "import bench"], cwd=tmp_path, capture_output=True).returncode == 0
