"""A tool that is run for its output, in a program that may have children of its own."""

import subprocess
import sys
import threading
import time

import pytest

from expctl.launcher.captured import Timeout, captured


def test_other_children_of_the_program_live_on() -> None:
    """Also those that it starts while the tool runs."""
    began: list[subprocess.Popen[bytes]] = []
    thread = threading.Thread(target=lambda: (time.sleep(0.3), began.append(subprocess.Popen(["sleep", "20"]))))
    thread.start()
    assert captured([sys.executable, "-c", "import time; time.sleep(0.8); print('done')"], timeout_s=20).out == "done\n"
    thread.join()
    try:
        assert began[0].poll() is None
    finally:
        began[0].kill()
        began[0].wait()


def test_a_tool_that_hangs_is_killed_with_its_children() -> None:
    code = "import subprocess, sys; p = subprocess.Popen(['sleep', '31.4159']); print(p.pid, flush=True); p.wait()"
    with pytest.raises(Timeout):
        captured([sys.executable, "-c", code], timeout_s=1)
    time.sleep(0.2)
    assert subprocess.run(["pgrep", "-f", "sleep 31.4159"], check=False, capture_output=True).stdout == b""
