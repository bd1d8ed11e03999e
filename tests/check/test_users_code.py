"""The Python of a launch description: what it imports and prints, and when it ends in ways of its own."""

import os
import signal
import sys
import threading
import time
from pathlib import Path

import pytest

from expctl.check import users_process
from expctl.check.case_file import read_case
from tests.check.test_case import given
from tests.refusals import refuses


def written(folder: Path, text: str) -> Path:
    (folder / "case.py").write_text(f"{text}\ncase = {given()!r}\n")
    return folder / "case.py"


def test_it_imports_what_lies_beside_it(tmp_path: Path) -> None:
    (tmp_path / "sizes_beside.py").write_text("N = 3\n")
    before = list(sys.path)
    assert read_case(written(tmp_path, "from sizes_beside import N")).case.shapes == {"n": 10}
    assert sys.path == before


def test_it_prints_beside_the_result(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    read_case(written(tmp_path, "print('loading')"))
    assert capfd.readouterr() == ("", "loading\n")


def test_it_may_not_go_on_for_ever(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users_process, "SECONDS_MOST", 0.2)
    with refuses("case-failed") as caught:
        read_case(written(tmp_path, "\nwhile True: pass"))
    assert caught.value.found == "TimeoutError: it goes on after 0.2 seconds"
    assert caught.value.where.endswith("case.py:2")


MUTE = "class Mute(Exception):\n    def __str__(self):\n        raise ValueError\nraise Mute"


@pytest.mark.parametrize("text", ["raise GeneratorExit", "class Mine(BaseException): pass\nraise Mine", MUTE])
def test_whatever_it_raises_is_told(text: str, tmp_path: Path) -> None:
    with refuses("case-failed"):
        read_case(written(tmp_path, text))


ENDS = ["os._exit(0)", "os.execv('/bin/true', ['true'])", "os.kill(os.getpid(), 9)", "os.closerange(3, 99); os._exit(0)"]


@pytest.mark.parametrize("text", ENDS)
def test_it_has_to_come_to_its_end(text: str, tmp_path: Path) -> None:
    with refuses("case-failed") as caught:
        read_case(written(tmp_path, f"import os\n{text}"))
    assert "before it came to its end" in caught.value.found
    assert ("by signal 9" if "kill" in text else "with status 0") in caught.value.found


@pytest.mark.parametrize("place", ["os.fork()", "def reference(arrays, shapes):\n    os.fork()\n    return dict(shapes)"])
def test_one_process_answers_where_it_forks(place: str, tmp_path: Path) -> None:
    text = "def reference(arrays, shapes): return dict(shapes)\n" if "def" not in place else ""
    reference = read_case(written(tmp_path, f"import os\n{text}{place}")).reference
    assert reference is not None
    assert [reference({}, {"n": n}) for n in (3, 4)] == [{"n": 3}, {"n": 4}]


def test_it_may_close_what_it_answers_by(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with refuses("case-failed"):
        read_case(written(tmp_path, "import os\nos.closerange(3, 99)"))
    assert capfd.readouterr() == ("", "")


def test_bytes_of_its_own_are_no_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(users_process, "SECONDS_MOST", 0.5)
    monkeypatch.setattr(users_process, "BESIDE_S", 1.5)
    write = "import os\nfor i in range(3, 5000):\n    try: os.write(i, b'of my own')\n    except OSError: pass"
    with refuses("case-failed") as caught:
        read_case(written(tmp_path, write))
    assert caught.value.found == "it goes on after 0.5 seconds"


def test_a_reference_has_to_come_to_its_end(tmp_path: Path) -> None:
    reference = read_case(written(tmp_path, "import os\ndef reference(arrays, shapes): os._exit(0)")).reference
    assert reference is not None
    with refuses("case-failed"):
        reference({}, {"n": 3})


def test_a_reference_keeps_what_it_set(tmp_path: Path) -> None:
    text = "calls = []\ndef reference(arrays, shapes):\n    calls.append(shapes['n'])\n    return {'x': calls}"
    reference = read_case(written(tmp_path, text)).reference
    assert reference is not None
    assert [reference({}, {"n": n}) for n in (3, 4)] == [{"x": [3]}, {"x": [3, 4]}]


@pytest.mark.parametrize("beside", [False, True])
def test_what_it_describes_is_plain_data(beside: bool, tmp_path: Path) -> None:
    (tmp_path / "beside_it.py").write_text("class Size(int): pass\n")
    own = "from beside_it import Size" if beside else "class Size(int): pass"
    (tmp_path / "case.py").write_text(f"{own}\ncase = {{'shapes': {{'n': Size(3)}}}}\n")
    with refuses("case-failed") as caught:
        read_case(tmp_path / "case.py")
    assert "beside_it" in caught.value.found if beside else "Size" in caught.value.found


def test_an_interrupt_is_none_of_its_errors(tmp_path: Path) -> None:
    told = tmp_path / "pid"

    def interrupt() -> None:
        while not (told.exists() and told.read_text()):
            time.sleep(0.02)
        pause_s = 0.2
        while not over.wait(pause_s):  # Python drops one that comes while it collects garbage
            signal.pthread_kill(waiting, signal.SIGINT)  # of the process another thread may take it, and this one sleeps on
            pause_s = 3  # the next one must not come while this one ends the child, but before the child has had its time

    over, waiting = threading.Event(), threading.get_ident()
    handled = signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever a test before this one has left
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
    threading.Thread(target=interrupt).start()
    try:
        with pytest.raises(KeyboardInterrupt):
            read_case(written(tmp_path, f"import os\nopen({str(told)!r}, 'w').write(str(os.getpid()))\nwhile True: pass"))
    finally:
        over.set()
        signal.signal(signal.SIGINT, handled)
    with pytest.raises(ProcessLookupError):
        os.kill(int(told.read_text()), 0)
