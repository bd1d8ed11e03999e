"""A fake agent: its n-th call leaves the n-th proposal of its repertoire. Run by expctl, with the brief on standard input.

`python agent.py MEMORY`: MEMORY is a folder outside the repository: how often it was called, and what it was told.
"""

import json
import os
import sys
from pathlib import Path

WORDS = "id: {id}\ntitle: {title}\nkind: perf\nhypothesis: less waste\nprediction: {{verdict: KEEP}}\n"
UNSEEN = '"\\u202Etxet desrever"'


def turned(text: str, knob: str, value: object) -> str:
    """A diff of one knob, made by hand: every knob stands in a line of its own, with the same three lines around it."""
    lines = text.splitlines()
    at = next(number for number, line in enumerate(lines) if line.startswith(f"{knob} = "))
    before, after = lines[at - 2 : at], lines[at + 1 : at + 3]
    body = [*(f" {line}" for line in before), f"-{lines[at]}", f"+{knob} = {value}", *(f" {line}" for line in after)]
    return "\n".join(["--- a/src/total.py", "+++ b/src/total.py", f"@@ -{at - 1},5 +{at - 1},5 @@", *body]) + "\n"


def created(path: str, mode: str = "100644", line: str = "x") -> str:
    return f"diff --git a/{path} b/{path}\nnew file mode {mode}\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1 @@\n+{line}\n" + (
        "\\ No newline at end of file\n" if mode == "120000" else ""
    )


def main() -> None:
    told = json.load(sys.stdin)
    memory, scratch = Path(sys.argv[1]), Path(told["scratch"])
    calls = memory / "calls"
    number = int(calls.read_text()) if calls.exists() else 0
    calls.write_text(str(number + 1))
    (memory / f"told-{number}.json").write_text(json.dumps(told))
    text = Path("src/total.py").read_text()
    repertoire = json.loads((memory / "repertoire.json").read_text())
    if number >= len(repertoire):
        return
    what = repertoire[number]
    home = scratch / "experiments" / what.get("id", told["brief"]["next_id"])
    home.mkdir()
    words = WORDS.format(id=home.name, title=what.get("title", f"turn{number}"))
    patch = turned(text, *what["turn"]) if "turn" in what else created(*what["create"]) if "create" in what else ""
    match what.get("trick"):
        case "no yaml":
            words = "id: [\n"
        case "wrong types":
            words += "mode: fastest\nverdict: KEEP\n"
        case "no patch":
            (home / "experiment.yaml").write_text(words)
            return
        case "unseen":
            words = WORDS.format(id=home.name, title=UNSEEN)
        case "link":
            os.symlink("/etc/passwd", home / "change.patch")
            (home / "experiment.yaml").write_text(words)
            return
        case "huge":
            with open(home / "change.patch", "wb") as file:
                file.truncate(200_000_000)
            (home / "experiment.yaml").write_text(words)
            return
        case "beside":
            (Path(memory).parent / "repository" / "experiments" / "P90").mkdir(parents=True)
            (Path(memory).parent / "repository" / "experiments" / "P90" / "experiment.yaml").write_text(words)
            (scratch / "experiments" / "P90").symlink_to(home)
        case "dies":
            sys.exit(7)
    (home / "experiment.yaml").write_text(words)
    (home / "change.patch").write_text(patch)


main()
