"""Random kills of heads and workers: `python -m tests.fleet.kills --trials 200`.

Each trial plays three experiments on two devices, kills a head or the process of a job with SIGKILL once to four times at
random moments, begins the head anew until the queue is empty, and then asks for everything that must hold: records, commits,
credits, the ledger, the user's files, nothing left behind. `--seed N --trials 1` plays one trial again. `--at-once` trials run
side by side, as many as there are cores if it isn't given: a trial mostly waits.
"""

import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from expctl.launcher.process import family_of
from tests.fleet.acceptance import APART, check, propose_all, signal_to
from tests.fleet.knobs import Knobs

COUNT = 3
NAMES = ("a", "b")
WITHIN_S, KILLS_MOST, HEADS_MOST = 12.0, 4, 12
MINE = "notes of mine\n"


def stage(folder: Path, *, confirmed: bool) -> tuple[Knobs, dict[str, str], str]:
    """The repository that each trial begins with. If `confirmed`, its protocol asks for a second device."""
    one, other = (int(name[1:]) - 1 for name in APART)
    knobs = Knobs(folder, COUNT, apart=[(one, other)], sleep_s=0.01)
    if confirmed:
        knobs.repository.edit_protocol("keep: {", "keep: {second_device: true, ")
    first = knobs.repository.head()
    wanted = propose_all(knobs, COUNT)
    knobs.repository.write("notes", MINE)
    return knobs, wanted, first


def begin(knobs: Knobs, hosts: Path) -> "subprocess.Popen[bytes]":
    """Begin a head."""
    environment = {**knobs.repository.environment, "PYTHONPATH": str(Path(__file__).parents[2])}
    with open(hosts.parent / "said", "ab") as said:
        return subprocess.Popen(
            [sys.executable, "-m", "tests.fleet.local_head", str(hosts), *NAMES],
            cwd=knobs.repository.root,
            env=environment,
            stdout=said,
            stderr=said,
        )


def play(knobs: Knobs, wanted: dict[str, str], first: str, hosts: Path, draw: random.Random) -> Counter[str]:
    """One trial; return how often what was killed. Raises AssertionError if something doesn't hold."""
    killed: Counter[str] = Counter()
    at = sorted(draw.uniform(0.5, WITHIN_S) for _ in range(draw.randint(1, KILLS_MOST)))
    started = time.monotonic()
    for _ in range(HEADS_MOST):
        head = begin(knobs, hosts)
        while head.poll() is None:
            if at and time.monotonic() - started >= at[0]:
                at.pop(0)
                jobs = [pid for pid in family_of(head.pid)[1:] if b"fleet\0work" in _words(pid)]
                if jobs and draw.random() < 0.5:
                    signal_to(draw.choice(jobs), signal.SIGKILL)
                    killed["job"] += 1
                else:
                    head.kill()
                    head.wait()
                    killed["head"] += 1
            time.sleep(0.01)
        if head.returncode == 0:
            break
        assert head.returncode == -signal.SIGKILL, (hosts.parent / "said").read_text()[-3000:]
    said = (hosts.parent / "said").read_text()
    assert head.returncode == 0, said[-3000:]
    loser = knobs.repository.record(APART[1])
    confirmed = "second_device" in (knobs.repository.root / "protocol.yaml").read_text()
    alone = not any("judged again" in note for note in loser["notes"])
    check(knobs, wanted, first, said, alone=alone, confirmed=confirmed)
    assert (knobs.repository.root / "notes").read_text() == MINE
    assert knobs.repository.git("status", "--porcelain") == "?? notes"
    return killed


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def trial(staged: Knobs, wanted: dict[str, str], first: str, folder: Path, seed: int) -> tuple[Counter[str], str]:
    """Play the trial `seed` in `folder`, which it removes; return how often what was killed, and what didn't hold, or ""."""
    knobs = staged.at(staged.repository.copy(folder))
    try:
        return play(knobs, wanted, first, folder / "hosts", random.Random(seed)), ""
    except AssertionError as error:
        return Counter(), f"seed {seed}: {error}"
    finally:
        shutil.rmtree(folder)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--at-once", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--confirmed", action="store_true", help="with a protocol that asks for a second device")
    asked = parser.parse_args()
    started = time.monotonic()
    killed: Counter[str] = Counter()
    failed = 0
    shm = "/dev/shm" if Path("/dev/shm").is_dir() else None
    with tempfile.TemporaryDirectory(prefix="kills-", dir=shm) as folder, ThreadPoolExecutor(asked.at_once) as pool:
        (Path(folder) / "stage").mkdir()
        staged, wanted, first = stage(Path(folder) / "stage", confirmed=asked.confirmed)
        seeds = range(asked.seed, asked.seed + asked.trials)
        trials = [pool.submit(trial, staged, wanted, first, Path(folder) / f"trial-{seed}", seed) for seed in seeds]
        for number, each in enumerate(as_completed(trials), 1):
            were, wrong = each.result()
            killed += were
            failed += bool(wrong)
            if wrong:
                print(wrong)
            took = f"{time.monotonic() - started:.0f} s"
            print(
                f"{number} trials, {killed['head']} heads and {killed['job']} jobs killed, {failed} failed, {took}", flush=True
            )
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
