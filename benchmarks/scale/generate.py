"""A repository with ten thousand experiments, the same for the same seed.

    python -m benchmarks.scale.generate FOLDER [--experiments 10000] [--queued 12] [--findings 60] [--seed 1] [--sampled 0]

The kernel is the small one of the end-to-end tests, so that `expctl new` and `expctl run` work there as well. Everything lies
in one pack and one commit, and is checked out; the ledger is rendered by `expctl ledger` and committed. Samples are cut short,
but for the newest `--sampled` timed experiments, whose rounds `expctl report --html` can draw.
"""

import argparse
import hashlib
import os
import random
import subprocess
import sys
from collections.abc import Container, Iterator, Sequence
from pathlib import Path

from msgspec.structs import replace

from benchmarks.scale.history import records, samples_like, title_of
from expctl.adapters.codec.record_codec import blind_bytes, profile_bytes, record_bytes, samples_bytes, ticket_bytes
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.records.proposal_file import proposal_text
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.domain.experiment.proposal import Mode, Verdict
from expctl.domain.experiment.queue_ticket import Ticket, content_of
from expctl.domain.experiment.record import Fact, Procedure, Record
from expctl.domain.history.blind import BlindSlot, Truth
from expctl.domain.history.comparability import measurement_conditions
from expctl.domain.protocol.boundaries import VERSION

KERNEL = Path(__file__).parents[2] / "tests" / "e2e" / "foreign_repository"
GPU = """\
  gpu:
    build: {toolchain: command, argv: ["{python}", bench/copy.py, src/total.py, "{artifact}"], artifact: total.py}
    requires: {devices: [/dev/example0], hint: plug one in}
    number_kind: device_time
    test: {argv: ["{python}", bench/test.py, "{artifact}"], timeout_s: 30}
    benchmark:
      argv: ["{python}", bench/benchmark.py, "{artifact}"]
      timeout_s: 60
      rounds: 10
      sizes: [{name: "n=512", weight: 0.6}, {name: "n=384", weight: 0.4}]
"""
WHO = "expctl <expctl@localhost> 1767225600 +0000"
IDENTITY = {
    f"GIT_{role}_{key}": value
    for role in ("AUTHOR", "COMMITTER")
    for key, value in (("NAME", "expctl"), ("EMAIL", "expctl@localhost"), ("DATE", "1767225600 +0000"))
}

AUTHOR = "Ada <ada@example.org>"


def kernel_files() -> Iterator[tuple[str, bytes]]:
    """The kernel, its harness, and a protocol with a second target that decides where its device is."""
    for file in sorted(path for path in KERNEL.rglob("*") if path.is_file() and "__pycache__" not in path.parts):
        text = file.read_bytes()
        if file.name == "protocol.yaml":
            text = text.replace(b"decides: [here]", b"decides: [gpu, here]") + GPU.encode()
        yield str(file.relative_to(KERNEL)), text


def record_files(record: Record, samples: bytes) -> Iterator[tuple[str, bytes]]:
    """What a run leaves below experiments/ID; an imported row has its record alone. `samples` are those of a timed one."""
    yield "record.json", record_bytes(record)
    if record.base:
        text = _proposal(record.id, record.title, record.hypothesis)
        patch = _patch(record.id)
        yield "experiment.yaml", text
        yield "change.patch", patch
        yield "queued.json", ticket_bytes(Ticket(content=content_of(text, patch), base=record.base, date=record.date))
    if record.estimates:
        yield "samples.jsonl", samples or f'{{"round":0,"side":"baseline","id":"{record.id}"}}\n'.encode() * 8
    if record.verdict is Verdict.KEEP and record.base:
        facts = (Fact(name="instructions", value=float(len(record.title))),)
        yield "profile.json", profile_bytes({"baseline": facts, "candidate": facts})


def waiting_files(number: int, base: str, draw: random.Random, *, after: str) -> Iterator[tuple[str, bytes]]:
    """A proposal that waits; every fifth for `after` to have been kept."""
    name = f"P{number}"
    text = _proposal(name, title_of(draw), f"Idea {number} needs no more registers.", after if number % 5 == 0 else "")
    patch = _patch(name)
    yield "experiment.yaml", text
    yield "change.patch", patch
    ticket = Ticket(content=content_of(text, patch), base=base, date="2026-09-01T00:00:00Z", author=AUTHOR)
    yield "queued.json", ticket_bytes(ticket)


def finding_lines(count: int, last: int, draw: random.Random) -> str:
    """findings.yaml; every eighth was superseded."""
    lines = ["findings:"]
    for number in range(1, count + 1):
        shown = draw.randrange(1, last + 1)
        lines += [f"- id: F{number}", f'  text: "{title_of(draw)} pays only below n=512 ({number})."', f"  since: P{shown}"]
        lines += ["  kind: measured", f"  evidence: [P{shown}]"]
        lines += [f"  superseded_by: F{number + 1}"] if number % 8 == 0 and number < count else []
    return "\n".join(lines) + "\n"


def blind_lines(made: Sequence[Record]) -> bytes:
    """blind.jsonl: a blind slot for every twentieth record, with the figures of one that was timed."""
    timed = [record for record in made if record.procedure is not None and record.estimates]
    return b"".join(blind_bytes(_blind(record)) for record in timed[: len(made) // 20])


def _blind(record: Record) -> BlindSlot:
    _, _, ground = measurement_conditions(record)[0]
    return BlindSlot(
        date=record.date,
        target=record.target,
        truth=Truth.NULL,
        verdict=Verdict.REJECT,
        reasons=record.reasons,
        estimates=record.estimates,
        procedure=record.procedure or Procedure(boundaries=VERSION, mode=Mode.GAIN, looks=(3,), search_rounds=3),
        head=record.base,
        ground=ground,
        artifacts=("0" * 64, "0" * 64),
        samples_sha256=hashlib.sha256(record.id.encode()).hexdigest(),
    )


def generate(folder: Path, *, experiments: int, queued: int, findings: int, seed: int, sampled: int = 0) -> None:
    """Make the repository in `folder`, which must not be there yet."""
    git(folder.parent, "init", "-q", "-b", "main", str(folder))
    load(folder, kernel_files())
    reader = GitReader(locate(folder))
    first = reader.head()
    library = GitLibrary(reader)
    protocol = library.protocol(first)
    identity = library.identity(first, ("protocol.yaml", *protocol.harness))
    yardsticks = {name: library.benchmark_identity(first, protocol, name) for name in protocol.decides}
    made = list(records(experiments, seed, yardsticks=yardsticks, protocol=identity))
    draw = random.Random(seed + 1)  # noqa: S311  as above
    kept = next((each.id for each in reversed(made) if each.verdict is Verdict.KEEP), "P1")
    timed = {each.id for each in [each for each in made if each.estimates][-sampled:]} if sampled else set()
    made = [replace(each, base=first) if each.id in timed else each for each in made]
    load(folder, all_files(made, queued, findings, draw, first, kept, timed))
    git(folder, "reset", "-q", "--hard", "HEAD")
    subprocess.run([sys.executable, "-m", "expctl", "ledger"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    git(folder, "add", "ledger.md")
    git(folder, "commit", "-q", "-m", "ledger", env=IDENTITY)


def all_files(
    made: list[Record], queued: int, findings: int, draw: random.Random, base: str, kept: str, sampled: Container[str] = ()
) -> Iterator[tuple[str, bytes]]:
    """Everything below experiments/."""
    for record in made:
        samples = samples_bytes(samples_like(record, draw)) if record.id in sampled else b""
        yield from ((f"experiments/{record.id}/{name}", text) for name, text in record_files(record, samples))
    for number in range(len(made) + 1, len(made) + queued + 1):
        yield from ((f"experiments/P{number}/{name}", text) for name, text in waiting_files(number, base, draw, after=kept))
    yield "experiments/blind.jsonl", blind_lines(made)
    if findings:
        yield "experiments/findings.yaml", finding_lines(findings, len(made), draw).encode()


def load(folder: Path, files: Iterator[tuple[str, bytes]]) -> None:
    """One commit with `files` on top of what is there, as one pack."""
    begun = subprocess.run(["git", "rev-parse", "-q", "--verify", "HEAD"], cwd=folder, capture_output=True, check=False).stdout
    stream = subprocess.Popen(["git", "fast-import", "--quiet", "--force"], cwd=folder, stdin=subprocess.PIPE)
    if stream.stdin is None:
        raise RuntimeError("git fast-import reads nothing")
    with stream.stdin as write:
        write.write(f"commit refs/heads/main\ncommitter {WHO}\ndata 7\nhistory\n".encode())
        write.write(b"from refs/heads/main^0\n" if begun else b"")
        for path, text in files:
            write.write(f"M 100644 inline {path}\ndata {len(text)}\n".encode() + text + b"\n")
    if stream.wait():
        raise SystemExit("git fast-import failed")
    git(folder, "read-tree", "HEAD")


def git(folder: Path, *words: str, env: dict[str, str] | None = None) -> None:
    """One command of git, which must do."""
    subprocess.run(["git", "-c", "gc.auto=0", *words], cwd=folder, check=True, env={**os.environ, **(env or {})})


def _proposal(name: str, title: str, hypothesis: str, after: str = "") -> bytes:
    return proposal_text(
        name,
        title=title,
        hypothesis=hypothesis,
        kind="perf",
        mode="gain",
        expect="KEEP",
        gain="0.5,2.5",
        depends_on=(after,) if after else (),
        precondition="",
    )


def _patch(name: str) -> bytes:
    """A change of one line of the kernel. git wants lines after it, unless it is the last one."""
    return (
        "diff --git a/src/total.py b/src/total.py\n--- a/src/total.py\n+++ b/src/total.py\n@@ -1,4 +1,4 @@\n"
        f" def total(values):\n-    result = 0\n+    result = 0  # {name}\n"
        "     for value in values:\n         result = result + value * value\n"
    ).encode()


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folder", type=Path)
    asked.add_argument("--experiments", type=int, default=10_000)
    asked.add_argument("--queued", type=int, default=12)
    asked.add_argument("--findings", type=int, default=60)
    asked.add_argument("--seed", type=int, default=1)
    asked.add_argument("--sampled", type=int, default=0)
    words = asked.parse_args()
    generate(
        words.folder.resolve(),
        experiments=words.experiments,
        queued=words.queued,
        findings=words.findings,
        seed=words.seed,
        sampled=words.sampled,
    )
