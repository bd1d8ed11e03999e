"""Items on files of tuned products, which hold for one machine: results of TunableOp, tables of aiter. Their parsers too."""

import math
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from expctl.domain.environment.item import Item, Seen, bad, good, has_amd, poor
from expctl.domain.environment.snapshot import AiterProduct, AiterTable, Snapshot, TunableOpFile, TunedProduct, Vendor

_TUNED = re.compile(r"Gemm\w*TunableOp_([A-Za-z0-9]+)_[NT]{2}")
_SHAPE = re.compile(r"([nt]{2}_\d+_\d+_\d+(?:_B_\d+)?)(?:_ld_(\d+)_(\d+)_(\d+))?")


def read_tunableop(path: str, text: str) -> TunableOpFile:
    """Return what the lines of a results file say: `Validator,NAME,VALUE`, then one line for each tuned product."""
    rows = [line.split(",") for line in text.splitlines() if line.strip()]
    validators = {row[1]: ",".join(row[2:]) for row in rows if row[0] == "Validator" and len(row) > 2}
    products = tuple(found for row in rows if (found := _tuned(row)) is not None)
    return TunableOpFile(path=path, validators=validators, rows=sum(row[0] != "Validator" for row in rows), products=products)


def _tuned(row: list[str]) -> TunedProduct | None:
    """Return the product of a line `GemmTunableOp_Half_TN,tn_M_N_K_ld_A_B_C,SOLUTION,MS`; None for any other."""
    kind, shape = _TUNED.fullmatch(row[0]), _SHAPE.fullmatch(row[1].strip()) if len(row) > 3 else None
    if kind is None or shape is None:
        return None
    strides = tuple(int(each) for each in shape.groups()[1:] if each)
    return TunedProduct(kind=kind[1], shape=shape[1], strides=strides, ms=_positive(row[3]))


def _positive(text: str) -> float:
    """Return the number that `text` is; 0 if it is none above 0."""
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if math.isfinite(value) and value > 0 else 0.0


def read_aiter(path: str, text: str, variable: str = "") -> AiterTable:
    """Return for which machines a CSV of aiter was tuned. Its first line names the columns; older tables have no `gfx`."""
    head, *lines = text.splitlines() or [""]
    columns = [name.strip() for name in head.split(",")]
    gfx, units = (columns.index(name) if name in columns else -1 for name in ("gfx", "cu_num"))
    found: Counter[tuple[str, int]] = Counter()
    products = []
    for row in (line.split(",") for line in lines if line.strip()):
        if len(row) > max(gfx, units) and units >= 0 and row[units].strip().isdigit():
            machine = (row[gfx].strip() if gfx >= 0 else "", int(row[units]))
            found[machine] += 1
            cells = dict(zip(columns, (cell.strip() for cell in row), strict=False))
            if all(cells.get(name, "").isdigit() for name in "MNK"):
                products.append(_aiter_product(machine, cells))
    return AiterTable(path=path, machines=dict(found), variable=variable, products=tuple(products))


def _aiter_product(machine: tuple[str, int], cells: Mapping[str, str]) -> AiterProduct:
    split = cells.get("splitK", "")
    return AiterProduct(
        machine=machine,
        m=int(cells["M"]),
        n=int(cells["N"]),
        k=int(cells["K"]),
        dtype=cells.get("dtype", "").removeprefix("torch."),
        library=cells.get("libtype", ""),
        kernel=cells.get("kernelName", ""),
        split=max(int(split), 1) if split.isdigit() else 1,
    )


def mismatches(validators: Mapping[str, str], here: Mapping[str, str]) -> Iterator[str]:
    """Yield for each validator of a file that is another one here: `GCN_ARCH_NAME gfx942, here gfx1151`. What isn't known here
    is not compared; a value that is known only in part (7.2 of 7.2.0.0-66) must be the beginning of the other.
    """
    for name, value in validators.items():
        if (ours := here.get(name)) and not (_begins(value, ours) or _begins(ours, value)):
            yield f"{name} {value}, here {ours}"


def _begins(text: str, start: str) -> bool:
    return text.startswith(start) and not text[len(start) : len(start) + 1].isalnum()


def _tunableop(snapshot: Snapshot) -> Iterator[Seen]:
    here = {**snapshot.validators, **snapshot.torch.validators}
    for each in snapshot.tunable:
        found = list(mismatches(each.validators, here))
        if found:
            yield bad(f"{each.path} is refused as stale: {'; '.join(found)}", f"rm {each.path}, and tune again on this machine")
        elif not each.validators:
            yield bad(f"{each.path} is refused: it has no Validator line, so nothing says what it was tuned for")
        else:
            unknown = sorted(set(each.validators) - set(here))
            yield good(f"{each.path} is this machine's{f' ({chr(44).join(unknown)} not compared)' if unknown else ''}")


def rows_here(table: AiterTable, snapshot: Snapshot) -> int:
    """Return how many rows of `table` were tuned for a GPU of this machine."""
    return sum(rows for machine, rows in table.machines.items() if is_here(machine, snapshot))


def is_here(machine: tuple[str, int], snapshot: Snapshot) -> bool:
    """Has this machine a GPU of that arch ("": any) with that number of compute units?"""
    cards = {(each.arch, each.compute_units) for each in snapshot.audited(Vendor.AMD)}
    arch, count = machine
    return machine in cards if arch else count in {units for _, units in cards}


def _aiter_named(snapshot: Snapshot) -> Iterator[Seen]:
    for each in (table for table in snapshot.aiter if table.variable):
        if rows_here(each, snapshot):
            yield good(f"{each.path} has {rows_here(each, snapshot)} rows for this GPU")
        else:
            there = ", ".join(f"{arch or 'a GPU'} with {count} CUs" for arch, count in sorted(each.machines)) or "nothing"
            what = f"{each.variable} names {each.path}, which is refused as stale: tuned for {there}, here {_here(snapshot)}"
            yield bad(what, f"drop {each.variable}, or tune that table again on this machine")


def _aiter_shipped(snapshot: Snapshot) -> Iterator[Seen]:
    shipped = [each for each in snapshot.aiter if not each.variable]
    rows = sum(rows_here(each, snapshot) for each in shipped)
    if rows:
        yield good(f"{rows} shapes are tuned for this GPU")
    else:
        total = sum(sum(each.machines.values()) for each in shipped)
        yield poor(
            f"aiter {snapshot.packages['aiter']} has no tuned shape for {_here(snapshot)}, of {total} in {len(shipped)} tables"
        )


def _here(snapshot: Snapshot) -> str:
    cards = sorted({(each.arch or "a GPU", each.compute_units) for each in snapshot.audited(Vendor.AMD)})
    return ", ".join(f"{arch} with {count} CUs" for arch, count in cards) or "this machine"


def _names_a_table(snapshot: Snapshot) -> bool:
    return has_amd(snapshot) and any(each.variable for each in snapshot.aiter)


def _has_aiter(snapshot: Snapshot) -> bool:
    return has_amd(snapshot) and "aiter" in snapshot.packages


ITEMS: tuple[Item, ...] = (
    Item(
        name="results of TunableOp",
        where="torch on an AMD GPU",
        why="torch drops a file whose validators differ with one warning, and then measures untuned products",
        fix="remove the file and tune again: PYTORCH_TUNABLEOP_ENABLED=1 PYTORCH_TUNABLEOP_TUNING=1 python PROGRAM.py",
        applies=lambda snapshot: bool(snapshot.tunable) and has_amd(snapshot),
        look=_tunableop,
    ),
    Item(
        name="tables that AITER_CONFIG_* names",
        where="aiter on an AMD GPU",
        why="aiter looks shapes up by architecture and number of compute units, and takes plain torch for what it doesn't find",
        fix="drop the variable, or tune the table again on this machine",
        applies=_names_a_table,
        look=_aiter_named,
    ),
    Item(
        name="tuned shapes of aiter",
        where="aiter on an AMD GPU",
        why='aiter then falls back to torch without an error (AITER_LOG_TUNED_CONFIG=1 logs "using torch solution:0")',
        fix="AITER_TUNE_GEMM=1 python PROGRAM.py collects shapes for aiter's GemmTuner; or PYTORCH_TUNABLEOP_ENABLED=1 instead",
        applies=_has_aiter,
        look=_aiter_shipped,
    ),
)
