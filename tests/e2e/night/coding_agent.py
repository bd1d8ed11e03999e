"""A scripted coding agent: it reads the task on standard input and edits the scratch check-out that it is started in.

`python coding_agent.py SCRIPT`: the step of the script for the call EXPCTL_CALL is played; each call costs 100 tokens and 0.5.
A step turns a knob of the kernel, writes or adds to files, plays a trick, and leaves words, or more words than usual.
"""

import json
import os
import re
import subprocess
import sys
import time
from pathlib import Path

WORDS = "title: {title}\nkind: perf\nhypothesis: less waste\nprediction: {{verdict: KEEP}}\n"


def main() -> None:
    task = sys.stdin.read()
    assert "# Task" in task
    assert "## Hot loop" in task
    scratch, call = Path(os.environ["EXPCTL_SCRATCH"]), int(os.environ["EXPCTL_CALL"])
    step = json.loads(Path(sys.argv[1]).read_text())[call]
    (scratch / "usage.json").write_text('{"tokens": 100, "money": 0.5}')
    kernel = Path("src/total.py")
    if "turn" in step:
        knob, value = step["turn"]
        kernel.write_text(re.sub(rf"(?m)^{knob} = .*$", f"{knob} = {value}", kernel.read_text()))
    for path, text in step.get("files", {}).items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_bytes(text.encode("latin-1"))
    kernel.write_text(kernel.read_text() + step.get("add", ""))
    words = step.get("words") or WORDS.format(title=step.get("title", f"idea{call}")) + step.get("more", "")
    match step.get("trick"):
        case "silent":
            return
        case "malformed":
            words = "title: [\n"
        case "no words":
            return
        case "no build":
            kernel.write_text("def total(values:\n")
        case "harness":
            Path("bench/test.py").write_text("print('ok')\n")
        case "line ends":
            kernel.write_bytes(kernel.read_bytes().replace(b"\n", b"\r\n"))
        case "wrong place":
            Path("proposal.yaml").write_text(words)
            return
        case "link":
            kernel.unlink()
            kernel.symlink_to("/etc/passwd")
        case "repository":
            subprocess.run(["git", "commit", "-aqm", "mine"], check=False)
            subprocess.run(["git", "update-ref", "refs/heads/main", "HEAD"], check=False)
        case "endless":
            time.sleep(600)
        case "dies":
            sys.exit(7)
    (scratch / "proposal.yaml").write_text(words)


main()
