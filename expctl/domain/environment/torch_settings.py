"""Items on torch: TunableOp, hipBLASLt, the precision of float32 products, inductor, graph breaks, time-outs of compilation."""

from collections.abc import Iterable, Iterator

from expctl.domain.environment.gpu_variables import setting
from expctl.domain.environment.item import Item, Seen, bad, good, has_amd, has_torch, is_on, poor
from expctl.domain.environment.snapshot import Snapshot

FIRST_COMPILE_S = 600.0
PREFIX = "TORCHINDUCTOR_"
MAX_AUTOTUNE = "TORCHINDUCTOR_MAX_AUTOTUNE"
BACKENDS = "max_autotune_gemm_backends"
BREAKS_SHOWN = 5
# Settings of inductor that change which kernels it makes, as torch ships them (torch/_inductor/config.py).
STOCK = {
    "max_autotune": "False",
    "max_autotune_gemm": "False",
    "max_autotune_pointwise": "False",
    BACKENDS: "ATEN,TRITON,CPP",
    "coordinate_descent_tuning": "False",
    "benchmark_kernel": "False",
    "freezing": "False",
    "epilogue_fusion": "True",
    "shape_padding": "True",
    "use_fast_math": "False",
    "force_disable_caches": "False",
    "triton.cudagraphs": "False",
}


def variable_of(key: str) -> str:
    """Return the variable that sets inductor's setting `key`, e.g. TORCHINDUCTOR_CUDAGRAPHS for triton.cudagraphs."""
    return PREFIX + key.rpartition(".")[2].upper()


def _switched_on(name: str, why: str) -> Item:
    def look(snapshot: Snapshot) -> Iterable[Seen]:
        found = snapshot.variables.get(name, "")
        yield good(found) if is_on(found) else poor(f"is {found}" if found else "not set")

    return Item(
        name=name,
        where="torch on an AMD GPU",
        why=why,
        fix=setting(name, "1"),
        applies=_torch_on_amd,
        look=look,
    )


def _torch_on_amd(snapshot: Snapshot) -> bool:
    return has_torch(snapshot) and has_amd(snapshot)


def _tuning(snapshot: Snapshot) -> Iterable[Seen]:
    value = snapshot.variables.get("PYTORCH_TUNABLEOP_TUNING", "")
    if value and not is_on(value):
        yield good("off")
    else:
        yield poor(f"{'on' if value else 'not set, so on'}, though {snapshot.tunable[0].path} holds tuned products")


def _has_tuned_products(snapshot: Snapshot) -> bool:
    tunes = is_on(snapshot.variables.get("PYTORCH_TUNABLEOP_ENABLED", ""))
    return _torch_on_amd(snapshot) and tunes and any(each.rows for each in snapshot.tunable)


def _stray(snapshot: Snapshot) -> Iterable[Seen]:
    names = sorted(name for name in snapshot.variables if name.startswith(PREFIX))
    ours = sorted(name for name in snapshot.shell if name.startswith(PREFIX) and name not in names)
    found = [seen for name in names if (seen := _of_steps(name, snapshot)) is not None]
    for name in ours:
        text = f"{name}={snapshot.shell[name]} is in this shell: steps don't get it, what you start by hand does"
        found.append(poor(text, _unset(name)))
    return found or [good(f"protocol.yaml sets {', '.join(names)}" if names else "none is set")]


def _of_steps(name: str, snapshot: Snapshot) -> Seen | None:
    value = snapshot.variables[name]
    if name not in snapshot.pinned:
        return poor(f"{name}={value} reaches the steps from the shell that starts expctl", _unset(name))
    if name == MAX_AUTOTUNE and is_on(value) and has_amd(snapshot):
        return poor(f"{name} is on for every step, and is not stable on ROCm", f"drop {name} from environment.set")
    return None


def _unset(name: str) -> str:
    return f"unset {name}; to keep its value, write it under environment.set of protocol.yaml, where every record names it"


def _hidden(snapshot: Snapshot) -> Iterable[Seen]:
    found = snapshot.torch.inductor
    changed = [key for key, stock in STOCK.items() if found.get(key, stock) != stock]
    unexplained = [key for key in changed if variable_of(key) not in snapshot.variables]
    for key in unexplained:
        yield poor(f"{key} is {found[key]}, torch ships {STOCK[key]}, and no {PREFIX} variable set it")
    if not unexplained:
        yield good(f"{len(found)} settings are as torch ships them" + (f", but {', '.join(changed)}" if changed else ""))


def _backends(snapshot: Snapshot) -> Iterator[Seen]:
    wanted = snapshot.torch.inductor.get(BACKENDS, "").upper().split(",")
    archs = {each.arch for each in snapshot.cards} - {""}
    served = not archs or bool(archs & set(snapshot.torch.ck_archs))
    if "CK" in wanted and not served:
        yield poor(f"CK is asked for, but serves {', '.join(snapshot.torch.ck_archs)}, not {', '.join(sorted(archs))}")
    else:
        yield good(f"{','.join(wanted)}{'' if served else ' (CK does not serve this GPU)'}")


def _answered(snapshot: Snapshot) -> bool:
    return bool(snapshot.torch.precision)


def _precision(snapshot: Snapshot) -> Iterable[Seen]:
    if snapshot.torch.precision == "highest" and not snapshot.sets_precision:
        yield poor("highest, and no script of a step sets another")
    else:
        yield good("set by a script of a step" if snapshot.sets_precision else snapshot.torch.precision)


def _breaks(snapshot: Snapshot) -> Iterator[Seen]:
    torch = snapshot.torch
    if torch.breaks is None:
        yield good("not looked for: expctl doctor env --script 'PROGRAM.py ARGUMENTS' runs one of yours and counts them")
        return
    for each in torch.breaks[:BREAKS_SHOWN]:
        yield poor(f"{each.place}: {each.reason}")
    if rest := len(torch.breaks) - BREAKS_SHOWN:
        yield from [poor(f"and {rest} more")] if rest > 0 else []
    if not torch.breaks:
        yield good(f"none in {torch.script}")


def _first_compile(snapshot: Snapshot) -> Iterable[Seen]:
    for each in snapshot.compiled:
        text = f"{each.target}.{each.step} ends after {each.timeout_s:g} s, and {each.script} uses torch.compile"
        line = f"in protocol.yaml: targets.{each.target}.{each.step}.timeout_s: {FIRST_COMPILE_S:g}"
        yield good(text) if each.timeout_s >= FIRST_COMPILE_S else poor(text, line)


def _trouble(snapshot: Snapshot) -> Iterable[Seen]:
    yield bad(snapshot.torch.trouble)


ITEMS = (
    _switched_on(
        "PYTORCH_TUNABLEOP_ENABLED",
        "torch else takes the product that its library guesses, which on AMD can be far from the fastest one there is",
    ),
    _switched_on(
        "TORCH_BLAS_PREFER_HIPBLASLT",
        "torch else asks rocBLAS first, which has no product with a fused epilogue and is slower for some shapes",
    ),
    Item(
        name="PYTORCH_TUNABLEOP_TUNING",
        where="torch on an AMD GPU",
        why="while it is on, a shape that the file lacks is tuned inside the step, so its first calls take seconds",
        fix=setting("PYTORCH_TUNABLEOP_TUNING", "0"),
        applies=_has_tuned_products,
        look=_tuning,
    ),
    Item(
        name="stray TORCHINDUCTOR_*",
        where="torch",
        why="such a variable makes other kernels of the same program, and who starts expctl next doesn't have it",
        fix="unset it, or write it under environment.set of protocol.yaml",
        applies=has_torch,
        look=_stray,
    ),
    Item(
        name="hidden inductor defaults",
        where="torch (doctor env)",
        why="an image or a sitecustomize.py changed it for everybody here, and nothing in the program or its variables says so",
        fix="set the variable of that name under environment.set of protocol.yaml, so that the value is written down",
        applies=_answered,
        look=_hidden,
    ),
    Item(
        name="inductor's backends for products",
        where="torch on an AMD GPU (doctor env)",
        why="inductor drops a backend that doesn't serve the GPU without a word, and the library's product runs instead",
        fix=setting(variable_of(BACKENDS), STOCK[BACKENDS]),
        applies=lambda snapshot: _answered(snapshot) and has_amd(snapshot),
        look=_backends,
    ),
    Item(
        name="float32 matmul precision",
        where="torch on a GPU (doctor env)",
        why="at `highest`, products of float32 don't use the GPU's fast units, so a rival in float32 looks slower than it is",
        fix="torch.set_float32_matmul_precision('high') in the script",
        applies=lambda snapshot: _answered(snapshot) and bool(snapshot.vendors),
        look=_precision,
    ),
    Item(
        name="graph breaks",
        where="torch (doctor env)",
        why="at a break torch.compile leaves its graph: nothing is fused across it, and every call goes through Python",
        fix="change that line, then TORCH_LOGS=graph_breaks python PROGRAM.py shows that it is gone",
        applies=_answered,
        look=_breaks,
    ),
    Item(
        name="first compilation",
        where="torch",
        why="the first compilation takes 2 to 15 minutes on AMD; a step that is ended before never has a figure",
        fix=f"timeout_s: {FIRST_COMPILE_S:g} for that step in protocol.yaml",
        applies=lambda snapshot: bool(snapshot.compiled),
        look=_first_compile,
    ),
    Item(
        name="torch's own answers",
        where="torch (doctor env)",
        why="what only torch can say is not known: its defaults, and its graph breaks",
        fix="mend what it says, then expctl doctor env again",
        applies=lambda snapshot: bool(snapshot.torch.trouble),
        look=_trouble,
    ),
)
