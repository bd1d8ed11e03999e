"""What an author got wrong ends as a fault with one message: the line to mend, what was expected, what was found."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.harness.conftest import HARNESS, TEST, TIMED, Serve, changed, served

CALL = "        build.axpy(x, y, a, out)\n"
DRAW = "        return rng.standard_normal(n), rng.standard_normal(n), float(rng.random())\n"
REFERENCE = "        return a * x + y\n"
INPUTS, REFERENCED, CALLED = (f"bench.py:{place}: expected " for place in ("11, in inputs", "20, in reference", "17, in call"))
WRITES = "        import os; os.write(int(os.environ['EXPCTL_RESULT_FD']), b'hello')\n"
SEEN_IN_A_TEST = {
    "no tuple": (DRAW, "        return {'x': rng.standard_normal(n)}\n", INPUTS + "an array, or a tuple"),
    "no seed": (DRAW, "        return np.ones(n), np.ones(n), 2.0\n", INPUTS + "other inputs for another seed"),
    "own chance": (DRAW, DRAW.replace("rng.standard_normal", "np.random.rand"), INPUTS + "the same inputs"),
    "NaN drawn": (DRAW, DRAW.replace("(n),", "(n) * np.nan,", 1), INPUTS + "numbers in input 1"),
    "error": (DRAW, DRAW.replace("(n)", "(m)", 1), INPUTS + "inputs to return, found NameError: name 'm'"),
    "parameters": ("inputs(self, rng, n)", "inputs(self, n)", "expected inputs(self, rng, n), found"),
    "no number": ("rel_l2 = 1e-12", "rel_l2 = '1e-12'", "bench.py:8, in rel_l2: expected rel_l2 as a number"),
    "no library": ("rel_l2 = 1e-12", "library = 'axpy.so'", "bench.py:8, in library: expected library = CLibrary"),
    "no device": ("rel_l2 = 1e-12", "device = 'gpu'", "bench.py:8, in device: expected device as cuda or hip"),
    "exit": (DRAW, "        raise SystemExit(0)\n", INPUTS + "inputs to return, found SystemExit"),
    "misspelled": ("rel_l2 =", "rel_l =", "bench.py:8, in rel_l: expected the name rel_l2, found rel_l"),
    "no reference": ("def reference", "def expect_this", "expected a method reference in class Axpy, found none"),
    "nothing returned": (REFERENCE, "        a * x + y\n", "found nothing (None)"),
    "half precision": (REFERENCE, "        return (a * x + y).astype('f2')\n", REFERENCED + "a result in float64"),
    "NaN expected": (REFERENCE, "        return np.log(a * x + y)\n", REFERENCED + "numbers, found float64"),
    "shape": (REFERENCE, "        return (a * x + y)[None]\n", REFERENCED + "shape (4096,), that of outputs()"),
    "alias": (REFERENCE, "        return x\n", REFERENCED + "an array of its own"),
    "changes": (REFERENCE, "        y += a * x\n        return y.copy()\n", "expected inputs that stay as they are"),
    "arguments": (CALL, "        build.axpy(x, y, out)\n", CALLED + "call to return, found TypeError"),
    "name": (CALL, "        build.saxpy(x, y, a, out)\n", CALLED + "call to return, found AttributeError"),
    "channel": (CALL, CALL + WRITES, "bench.py:18: expected nothing but the library to write to EXPCTL_RESULT_FD"),
    "package": ("import numpy as np\n", "", "bench.py:13, in outputs: expected outputs to return, found NameError"),
    "no package": ("class Axpy", "import no_such_package\n\n\nclass Axpy", "bench.py:6: expected the package no_such_"),
    "line of the class": ("    rel_l2 = 1e-12", "    rel_l2 = 1e-12 / 0", "bench.py:8, in Axpy: expected this line to run"),
    "serve forgotten": ("serve(Axpy)", "", "bench.py:6, in class Axpy: expected serve(Axpy) as the last line, found none"),
    "no class": ("serve(Axpy)", "serve(Axpy())", "bench.py:23: expected serve(Dot) with a class derived from Kernel"),
}  # fmt: skip


@pytest.mark.parametrize("case", SEEN_IN_A_TEST)
def test_a_test_names_the_line(serve: Serve, case: str) -> None:
    before, after, reason = SEEN_IN_A_TEST[case]
    status, said = serve(TEST, harness=changed(HARNESS, before, after))
    assert (said[-1]["event"], said[-1]["ok"], said[-1].get("fault"), status) == ("end", False, True, 2), said[-1]
    assert reason in said[-1]["reason"]


def test_swapped_arguments_are_a_hint(serve: Serve) -> None:
    status, said = serve(TEST, harness=changed(HARNESS, CALL, "        build.axpy(y, x, a, out)\n"))
    assert (status, "fault" in said[-1]) == (1, False)
    assert "right if inputs 1 and 2 are exchanged: are they swapped? (bench.py:16, in call)" in said[-1]["reason"]


def test_words_without_the_build(serve: Serve, tmp_path: Path) -> None:
    serve(TEST)
    status, said = served(tmp_path, TEST, "--launches", artifact="build.py")
    assert (status, said[-1]["fault"]) == (2, True)
    assert said[-1]["reason"].startswith(
        'expected `bench.py BUILD`, in protocol.yaml argv: ["{python}", bench.py, "{artifact}"]'
    )


def test_an_output_that_is_not_handed_on_is_a_hint(serve: Serve) -> None:
    status, said = serve(TEST, harness=changed(HARNESS, CALL, "        build.axpy(x, y, a, out.copy())\n"))
    assert (status, "fault" in said[-1]) == (1, False)
    assert "is the output handed to the build? (bench.py:16, in call)" in said[-1]["reason"]


def test_a_size_that_the_class_lacks(serve: Serve) -> None:
    status, said = serve(TIMED, harness=changed(HARNESS, '"n=4096"', '"n=512"'))
    assert (status, said[-1]["fault"]) == (2, True)
    assert "bench.py:7, in sizes: expected the size 'n=4096' that was asked for" in said[-1]["reason"]


def test_a_call_too_short_for_the_clock(serve: Serve) -> None:
    harness = changed(HARNESS, "    def outputs(self, n):\n        return np.empty(n),\n\n", "")
    harness = changed(harness, "y, a, out):\n" + CALL, "y, a):\n        return a\n")
    status, said = serve(TIMED, harness=harness)
    assert (status, said[-1]["fault"]) == (2, True)
    assert "steps of the clock" in said[-1]["reason"]
