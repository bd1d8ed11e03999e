"""Does `expctl check` see a race in whichever order the waves run? `python -m benchmarks.check.races` runs strangers' programs.

Each folder below strangers_races has a kernel.hip, a case.yaml, and expected.yaml with `expected`: race or clean. Prints those
whose answer is another one in any of 20 orders, or that are refused, and a line of totals; exits with 1 if there is one.
`--level 0` compiles them so; 3 unless given.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import yaml

FOLDER = Path(__file__).with_name("strangers_races")
EXPCTL = Path(sys.executable).with_name("expctl")
ORDERS = 20


def answer(folder: Path, level: str = "3") -> str:
    """Return what `check` says of the program in `folder`: race, where each of the orders shows one, else in how many; clean;
    refused; other for other faults alone.
    """
    argv = [str(EXPCTL), "check", "kernel.hip", "--launch", "case.yaml", "--orders", str(ORDERS), "-O", level, "--json"]
    ended = subprocess.run(argv, cwd=folder, check=False, capture_output=True, text=True)
    if "Error [" in ended.stderr:
        return "refused"
    findings = json.loads(ended.stdout)["findings"]
    racing = {order for finding in findings if finding["kind"] == "race" for order in finding["orders"]}
    if racing:
        return "race" if len(racing) == ORDERS else f"race in {len(racing)} of {ORDERS} orders"
    return "other" if findings else "clean"


def expected(folder: Path) -> str:
    """Return what the author of the program in `folder` says: race or clean."""
    return str(yaml.safe_load((folder / "expected.yaml").read_text())["expected"])


def main() -> int:
    """Run all, print what differs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--level", default="3")
    level = parser.parse_args().level
    folders = sorted(FOLDER.iterdir())
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(lambda folder: answer(folder, level), folders))
    wanted = [expected(folder) for folder in folders]
    for folder, said, right in zip(folders, found, wanted, strict=True):
        if said != right:
            print(f"{folder.name}: {said}, expected {right}")
    count = sum(said == right for said, right in zip(found, wanted, strict=True))
    print(f"{len(folders)} programs: {count} right, {found.count('refused')} refused, in {ORDERS} orders")
    return int(count != len(folders))


if __name__ == "__main__":
    sys.exit(main())
