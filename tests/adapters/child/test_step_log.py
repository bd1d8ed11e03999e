"""A child that takes every right from its own log changes nothing: expctl reads, cuts and masks it as any other."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

ROOT, NOBODY, SECRET = Path(__file__).parents[3], 65534, "correct-horse-battery"
TAKES = "echo {}; chmod 0 /proc/self/fd/1; exit 3"
LOOPS = "import os, time; os.write(int(os.environ['EXPCTL_RESULT_FD']), b'1\\n')\nwhile 1: os.fchmod(1, 0)"
RUNS = f"""
import json, os, stat, sys, tempfile, time
from pathlib import Path
from expctl.adapters.child.contained_process import Child, Launch, log_tail
from expctl.adapters.steps.builder import _first_error

room = tempfile.TemporaryDirectory()
log, environment = Path(room.name, "log"), {{"PATH": os.environ["PATH"]}}


def launch(*argv):
    return Launch(argv=argv, cwd=log.parent, environment=environment, log=log)


def run(word):
    with Child(launch("/bin/sh", "-c", {TAKES!r}.format(word))) as child:
        return child.wait(time.monotonic() + 20)


found = {{"statuses": [run("error: " + os.environ["A_TOKEN"]), run("second")]}}
found |= {{"mode": stat.S_IMODE(log.stat().st_mode), "tail": log_tail(log), "error": _first_error(log, Path("/tree"))}}
with Child(launch(sys.executable, "-c", {LOOPS!r})) as other:
    next(other.lines(time.monotonic() + 20))
    found["beside"] = run("third")
print(json.dumps(found | {{"lines": log.read_text().split()}}))
"""


@pytest.mark.parametrize("is_ordinary", [False, True], ids=["as I am", "as an ordinary user"])
def test_a_log_without_rights_is_read_and_masked(*, is_ordinary: bool) -> None:
    python: str | None = sys.executable
    more: dict[str, object] = {}
    if is_ordinary:
        python = shutil.which(f"python3.{sys.version_info.minor}", path="/usr/bin:/usr/local/bin")
        if os.geteuid() or python is None:
            pytest.skip("UNTRIED: this is an ordinary user, or no Python of this version is one that every user may start")
        more = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
    environment = {"PATH": "/usr/bin:/bin", "TMPDIR": "/tmp", "PYTHONDONTWRITEBYTECODE": "1", "A_TOKEN": SECRET}
    environment["PYTHONPATH"] = os.pathsep.join((str(ROOT), sysconfig.get_path("purelib")))
    ended = subprocess.run([python, "-c", RUNS], cwd="/", env=environment, capture_output=True, text=True, timeout=60, **more)  # type: ignore[call-overload]
    if is_ordinary and f"'{ROOT}" in ended.stderr:
        pytest.skip("UNTRIED: other users may not read this folder")
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["statuses"] == [3, 3]
    assert found["beside"] == 3
    assert found["mode"] == 0o644
    assert found["error"] == f"error: {'*' * len(SECRET)}"
    assert "second" in found["tail"]
    assert "third" in found["lines"]
