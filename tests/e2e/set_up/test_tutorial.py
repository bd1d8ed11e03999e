"""The agent of docs/TUTORIAL.md hands on what its model says, and what expctl tells it."""

import json
import re
from pathlib import Path

from tests.e2e import cheat_parameters as knobs
from tests.e2e.foreign import Foreign

PAGE = Path(__file__).parents[3] / "docs/TUTORIAL.md"
MODEL = """
import json, sys
from difflib import unified_diff
told = json.load(sys.stdin)
before = told["sources"]["src/total.py"].splitlines(keepends=True)
after = [line.replace("FIRST = 3000", "FIRST = 9000") for line in before]
patch = "".join(unified_diff(before, after, "a/src/total.py", "b/src/total.py"))
answer = {"title": "More waste", "hypothesis": "None: it shows a REJECT.", "patch": patch}
print(json.dumps(None if told["brief"]["records"] else answer))
"""


def test_the_agent_of_the_tutorial_proposes_what_its_model_says(repository: Foreign) -> None:
    (agent,) = [block for block in re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL) if "told" in block]
    knobs.begin(repository)
    repository.write("tools/agent.py", agent)
    argv = json.dumps(["{python}", "tools/agent.py", "{python}", "-c", MODEL])
    protocol = (repository.root / "protocol.yaml").read_text()
    repository.write("protocol.yaml", f"{protocol}proposer: {{argv: {argv}, timeout_s: 60}}\n")
    repository.commit("an agent")
    ran = repository.concluded("run", "--all", "--propose", "5")
    record = repository.record("P1")
    assert (record["verdict"], record["title"]) == ("REJECT", "More waste")
    assert "the end: the queue is empty; the proposer has nothing more to propose" in ran.out
    repository.check_nothing_is_left()
