"""Does the interpreter see what is wrong? `python -m benchmarks.interpreter.mutants` breaks the kernel in many ways and looks.

The KPI's config and a small one, as the pinned clang compiles them at -O3, are broken in their assembly (mutations.py) or their
source (source_mutations.py) and run in five wave orders. A mutant is caught if in every order the check fires that it is meant
for, and no other one but those that follow from it. The few that no check can see are listed with the reason.

Rows go to mutants.jsonl; those of the kernel as it is are not run again, so that a killed run goes on; `--again` begins anew.
`--only WORDS` runs those whose id holds the words. `--table` prints what the file holds, `--list` every mutant.
Exits with 1 if one was missed or caught by another check, if one that is said to be equivalent was caught, or none ran.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks.interpreter.compiler import HIP, Compiler
from benchmarks.interpreter.launches import Run, scaled_mm
from benchmarks.interpreter.mutations import BASES, Base, Check, Mutant, of_assembly
from benchmarks.interpreter.source_mutations import of_source

RESULTS = Path(__file__).with_name("mutants.jsonl")
LEVEL = "-O3"
ORDERS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """`caught`: what fired in each order, on the product that counts. `shows`: a fault or failure in words."""

    kernel: str
    ziglang: str
    id: str
    family: str
    config: str
    edit: str
    product: str
    expected: str
    caught: list[list[str]]
    shows: str
    outcome: str
    """caught, equivalent, or MISSED"""
    argument: str


class Builds:
    """Assembly of the bases and of mutants of the source."""

    def __init__(self, compiler: Compiler) -> None:
        self._compiler = compiler
        self.texts = {base.name: compiler.kernel(base.config, LEVEL) for base in BASES}

    def mutants(self) -> Iterator[Mutant]:
        """All of them."""
        for base in BASES:
            yield from of_assembly(self.texts[base.name], base)
        yield from of_source()

    def text(self, mutant: Mutant) -> str:
        """Raises ValueError if the kernel's source no longer holds what is to be replaced."""
        text = self.texts[mutant.base.name]
        if mutant.line:
            lines = text.splitlines()
            lines[mutant.line - 1] = f"\t{mutant.new}"
            return "\n".join(lines)
        return self._broken(mutant.base, mutant) if mutant.file else text

    def _broken(self, base: Base, mutant: Mutant) -> str:
        source = (HIP / mutant.file).read_text()
        if source.count(mutant.old) != 1:
            raise ValueError(f"{mutant.id}: {mutant.file} holds {mutant.old!r} {source.count(mutant.old)} times, expected once")
        with tempfile.TemporaryDirectory() as folder:
            hip = shutil.copytree(HIP, Path(folder) / "hip")
            (hip / mutant.file).write_text(source.replace(mutant.old, mutant.new))
            return self._compiler.kernel(base.config, LEVEL, hip)


def checks(run: Run) -> list[str]:
    """What fired."""
    fired = {*run.kinds}
    if not run.result.written["c"].all():
        fired.add(Check.NEVER_WRITTEN)
    if run.failure is not None:
        fired.add(Check.WRONG)
    return sorted(str(check) for check in fired)


def is_caught(mutant: Mutant, fired: list[str]) -> bool:
    """By the check that it is meant for, and by none that does not follow from it."""
    return mutant.expected in fired and set(fired) <= {mutant.expected, *mutant.also}


def judged(mutant: Mutant, text: str, *, kernel: str, ziglang: str, orders: int = ORDERS) -> Row:
    """Run it on its products until one shows it."""
    product, caught, shows = mutant.products[0], [[""]], ""
    for product in mutant.products:
        config, more = mutant.base.config, mutant.more_blocks
        runs = [scaled_mm(text, config, *product, seed=seed, more_blocks=more) for seed in range(orders)]
        caught = [checks(run) for run in runs]
        shows = next((words for run in runs for words in [*_meant(mutant, run), *run.faults, run.failure or ""] if words), "")
        if any(caught):
            break
    if mutant.argument:
        outcome = "MISSED" if any(caught) else "equivalent"
    else:
        outcome = "caught" if all(is_caught(mutant, fired) for fired in caught) else "MISSED"
    fp8, m, n, k = product
    return Row(
        kernel=kernel, ziglang=ziglang, id=mutant.id, family=mutant.family, config=",".join(map(str, mutant.base.config)),
        edit=mutant.edit, product=f"{fp8.label} {m} x {n} x {k}", expected=mutant.expected, caught=caught, shows=shows,
        outcome=outcome, argument=mutant.argument,
    )  # fmt: skip


def _meant(mutant: Mutant, run: Run) -> list[str]:
    return [str(fault) for fault in run.result.faults if fault.kind.value == mutant.expected]


def load(file: Path = RESULTS) -> list[Row]:
    """What is done."""
    return [Row(**json.loads(line)) for line in file.read_text().splitlines()] if file.exists() else []


def table(rows: list[Row]) -> str:
    """By family, then what is equivalent and what was missed."""
    lines = ["| mutants | of them | caught in 5 of 5 orders | by | equivalent | missed |", "|---|--:|--:|---|--:|--:|"]
    for family in dict.fromkeys(row.family for row in rows):
        some = [row for row in rows if row.family == family]
        by = {row.expected: sum(x.expected == row.expected and x.outcome == "caught" for x in some) for row in some}
        count = {outcome: sum(row.outcome == outcome for row in some) for outcome in ("caught", "equivalent", "MISSED")}
        words = ", ".join(f"{check} {n}" for check, n in by.items())
        cells = (family, len(some), count["caught"], words, count["equivalent"], count["MISSED"])
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    caught, same = (sum(row.outcome == outcome for row in rows) for outcome in ("caught", "equivalent"))
    lines += ["", f"{len(rows)} mutants: {caught} caught, {same} equivalent, {len(rows) - caught - same} missed."]
    lines += [f"- {row.id} ({row.edit}): {row.argument}" for row in rows if row.outcome == "equivalent"]
    lines += [f"MISSED {row.id} ({row.edit}), {row.product}: {row.caught}, expected {row.expected}; {row.shows}"
              for row in rows if row.outcome == "MISSED"]  # fmt: skip
    return "\n".join(lines)


def main() -> int:
    """Run what is missing, print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--again", action="store_true", help="forget the rows")
    parser.add_argument("--only", default="", metavar="WORDS", help="mutants whose id holds these words; rows are not kept")
    parser.add_argument("--table", action="store_true", help="run nothing")
    parser.add_argument("--list", action="store_true", help="every row, and run nothing")
    arguments = parser.parse_args()
    rows = load()
    if arguments.list:
        print("\n".join(f"{row.outcome:10} {row.expected:13} {row.id} ({row.edit})" for row in rows))
    elif not arguments.table:
        compiler = Compiler.installed()
        if compiler is None:
            parser.error("the ziglang wheel (extra `cpu`) is not installed")
        kernel, builds = compiler.kernel_hash(), Builds(compiler)
        rows = [] if arguments.again or arguments.only else [row for row in rows if row.kernel == kernel]
        mutants = [mutant for mutant in builds.mutants() if arguments.only in mutant.id]
        done = {row.id for row in rows}
        for mutant in mutants:
            if mutant.id not in done:
                rows.append(judged(mutant, builds.text(mutant), kernel=kernel, ziglang=compiler.version))
                print(rows[-1].outcome, rows[-1].id, rows[-1].caught, flush=True)
                if not arguments.only:
                    RESULTS.write_text("".join(json.dumps(asdict(row)) + "\n" for row in rows))
    print(table(rows))
    return int(not rows or any(row.outcome == "MISSED" for row in rows))


if __name__ == "__main__":
    sys.exit(main())
