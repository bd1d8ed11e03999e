"""Ctrl-C is never lost, not even where Python can only print an exception."""

import subprocess
import sys

SCRIPT = """
import os, signal, time, weakref
from expctl.cli import app, entry

class Thing: pass

def run():
    thing = Thing()
    told = weakref.ref(thing, lambda _: os.kill(os.getpid(), signal.SIGINT))
    del thing
    time.sleep(20)

app.main = run
entry.main()
"""


def test_an_interrupt_in_a_callback_ends_the_command() -> None:
    ended = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr.strip()) == (130, "Interrupted")


def test_an_interrupted_command_says_so() -> None:
    script = "from expctl.cli import check, entry\nimport os, signal\n"
    script += "import expctl.check.kernel_file as file\nfile.read_kernels = lambda *_: os.kill(os.getpid(), signal.SIGINT)\n"
    script += "import sys\nsys.argv = ['expctl', 'check', 'k.hip']\nentry.main()\n"
    ended = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (ended.returncode, ended.stderr.strip()) == (130, "Interrupted")
