"""Does `expctl check` see a race in whichever order the waves run? `python -m benchmarks.check.races` runs strangers' programs.

Each folder below strangers_races has a kernel.hip, a case.yaml, and expected.yaml with `expected`: race or clean. Prints those
whose answer in 20 orders is another one, or that are refused, and a line of totals; exits with 1 if there is one.
"""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

FOLDER = Path(__file__).with_name("strangers_races")
EXPCTL = Path(sys.executable).with_name("expctl")
ORDERS = 20


def answer(folder: Path) -> str:
    """Return what `check` says of the program in `folder`: race, clean, refused, or other for other faults alone."""
    argv = [str(EXPCTL), "check", "kernel.hip", "--launch", "case.yaml", "--orders", str(ORDERS)]
    ended = subprocess.run(argv, cwd=folder, check=False, capture_output=True, text=True)
    if "Error [" in ended.stderr:
        return "refused"
    return "race" if ": race:" in ended.stdout else "other" if ended.returncode else "clean"


def main() -> int:
    """Run all, print what differs."""
    folders = sorted(FOLDER.iterdir())
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(answer, folders))
    wanted = [yaml.safe_load((folder / "expected.yaml").read_text())["expected"] for folder in folders]
    for folder, said, right in zip(folders, found, wanted, strict=True):
        if said != right:
            print(f"{folder.name}: {said}, expected {right}")
    right = sum(said == expected for said, expected in zip(found, wanted, strict=True))
    print(f"{len(folders)} programs: {right} right, {found.count('refused')} refused, in {ORDERS} orders")
    return int(right != len(folders))


if __name__ == "__main__":
    sys.exit(main())
