"""A small C project under expctl, made as docs/TUTORIAL.md does: what the figures and captures of the terminal are taken on."""

import os
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

KERNEL = """double dot(const double *x, const double *y, long n)
{{
    double {sums};
    long i = 0;
    for (; i + {step} <= n; i += {step}) {{
{body}    }}
    for (; i < n; i++)
        {first} += x[i] * y[i];
    return {total};
}}
"""
EXPCTL = (sys.executable, "-m", "expctl")


def dot_of(order: Iterable[int]) -> str:
    """Return the C source of a dot product with one running sum per entry of `order`, which are added up in that order."""
    names = ["abcdefgh"[number] for number in order]
    body = "".join(f"        {name} += x[i + {at}] * y[i + {at}];\n" for at, name in enumerate(sorted(names)))
    sums = ", ".join(f"{name} = 0" for name in sorted(names))
    return KERNEL.format(sums=sums, step=len(names), body=body, first=names[0], total=" + ".join(names))


class Project:
    """A new git repository in `root` with the dot product `source`, set up by `expctl init` and committed."""

    def __init__(self, root: Path, source: str) -> None:
        self.root, self.kernel = root, root / "src/dot.c"
        self.environment = {**os.environ, "XDG_STATE_HOME": str(root.parent / "state")}
        self.kernel.parent.mkdir(parents=True)
        self._do("git", "init", "-q", "-b", "main")
        self._do("git", "config", "user.name", "Ada")
        self._do("git", "config", "user.email", "ada@example.org")
        self.kernel.write_text(source)
        self._do(*EXPCTL, "init", "--kind", "c")
        script = root / "bench/harness.py"
        script.write_text(re.sub(r"raise NotImplementedError.*", "return np.dot(x, y)", script.read_text()))
        self._do(*EXPCTL, "harness", "check")
        self._do("git", "add", "-A")
        self._do("git", "commit", "-q", "-m", "Measure dot by expctl")

    def propose(self, source: str, title: str) -> None:
        """Queue `source` in place of the kernel."""
        self.kernel.write_text(source)
        self._do(*EXPCTL, "new", "--from-diff", "--title", title, "--hypothesis", "To watch the terminal while it is measured.")

    def _do(self, *argv: str) -> None:
        subprocess.run(argv, cwd=self.root, env=self.environment, check=True, stdout=subprocess.DEVNULL)
