"""Items on variables that the runtimes of GPUs read: HIP, HSA, and the debugging aids of both makers."""

import re
from collections.abc import Iterable

from expctl.domain.environment.item import Item, Seen, good, has_amd, is_on, poor
from expctl.domain.environment.snapshot import Snapshot, Vendor

SLOWING = (
    "HSA_DISABLE_FRAGMENT_ALLOCATOR",
    "AMD_SERIALIZE_KERNEL",
    "AMD_SERIALIZE_COPY",
    "HIP_LAUNCH_BLOCKING",
    "CUDA_LAUNCH_BLOCKING",
    "AMDGCN_ENABLE_DUMP",
    "MLIR_ENABLE_DUMP",
    "PYTORCH_NO_CUDA_MEMORY_CACHING",
    "PYTORCH_NO_HIP_MEMORY_CACHING",
    "TRITON_INTERPRET",
)
_MASK = re.compile(r"(?:0:)?(?:0x(?P<bits>[0-9a-fA-F]{1,128})|(?P<units>\d{1,4}(?:-\d{1,4})?(?:,\d{1,4}(?:-\d{1,4})?)*))")
MASKS = ("HSA_CU_MASK", "ROC_GLOBAL_CU_MASK")


def setting(name: str, value: str) -> str:
    """Return the line that sets a variable for the steps."""
    return f'under environment.set of protocol.yaml: {name}: "{value}" (outside of expctl: export {name}={value})'


def _wants(name: str, value: str, why: str, *, unset_is_right: bool = False) -> Item:
    def look(snapshot: Snapshot) -> Iterable[Seen]:
        found = snapshot.variables.get(name)
        if found == value or (found is None and unset_is_right):
            yield good("not set, which is the same" if found is None else found)
        else:
            yield poor("not set" if found is None else f"is {found}, not {value}")

    return Item(name=name, where="AMD GPU", why=why, fix=setting(name, value), applies=has_amd, look=look)


def _override(snapshot: Snapshot) -> Iterable[Seen]:
    named = snapshot.variables.get("HSA_OVERRIDE_GFX_VERSION", "")
    archs = sorted({each.arch for each in snapshot.audited(Vendor.AMD)} - {""})
    if not named:
        yield good("not set")
    elif not archs or arch_of(named) in archs:
        yield good(named)
    else:
        yield poor(f"{named} makes the runtime load code of {arch_of(named) or 'another GPU'}; this is {', '.join(archs)}")


def arch_of(version: str) -> str:
    """Return the architecture that HSA_OVERRIDE_GFX_VERSION names, e.g. gfx1151 for 11.5.1; "" if it names none."""
    parts = version.strip().split(".")
    if len(parts) != 3 or not all(part.isdigit() for part in parts):
        return ""
    return f"gfx{int(parts[0])}{int(parts[1]):x}{int(parts[2]):x}"


def _debugging(snapshot: Snapshot) -> Iterable[Seen]:
    found = [name for name in SLOWING if is_on(snapshot.variables.get(name, ""))]
    yield from (poor(f"{name}={snapshot.variables[name]}", _drop(name)) for name in found)
    if not found:
        yield good("none is set")


def _masks(snapshot: Snapshot) -> Iterable[Seen]:
    found = [name for name in MASKS if snapshot.variables.get(name)]
    yield from (poor(f"{name}={snapshot.variables[name]}{_left(snapshot, name)}", _drop(name)) for name in found)
    if not found:
        yield good("none is set")


def _left(snapshot: Snapshot, name: str) -> str:
    """Return how many compute units of the only card a mask leaves; "" where it isn't for that card alone, or can't be read."""
    cards, units = snapshot.audited(Vendor.AMD), units_of(snapshot.variables[name])
    total = cards[0].compute_units if len(cards) == 1 else 0
    return f" leaves {units} of {total} compute units" if 0 < units < total else ""


def units_of(mask: str) -> int:
    """Return how many compute units a mask of one card names: `0:0-15,32-47`, or bits such as `0x3f`; 0 if it is no such."""
    listed = _MASK.fullmatch(mask.strip())
    if listed is None:
        return 0
    if listed["bits"]:
        return int(listed["bits"], 16).bit_count()
    chosen: set[int] = set()
    for part in listed["units"].split(","):
        first, _, last = part.partition("-")
        chosen.update(range(int(first), int(last or first) + 1))
    return len(chosen)


def _drop(name: str) -> str:
    return f"drop {name} from environment.set and pass_through of protocol.yaml (outside of expctl: unset {name})"


ITEMS = (
    _wants(
        "GPU_MAX_HW_QUEUES",
        "2",
        "with HIP's default of 4 hardware queues, streams of one process share the command processor and launches scatter",
    ),
    _wants("HIP_FORCE_DEV_KERNARG", "1", "kernel arguments in device memory shorten each launch by 2 to 3 us"),
    _wants(
        "HSA_NO_SCRATCH_RECLAIM",
        "1",
        "ROCr else gives scratch memory back between launches, and a launch that needs it again waits for it",
    ),
    _wants(
        "AMD_LOG_LEVEL", "0", "HIP writes a log of every call at a higher level, inside the timed span", unset_is_right=True
    ),
    Item(
        name="HSA_OVERRIDE_GFX_VERSION",
        where="AMD GPU",
        why="with another architecture than the card's, libraries run kernels that were tuned and compiled for that one",
        fix=_drop("HSA_OVERRIDE_GFX_VERSION"),
        applies=has_amd,
        look=_override,
    ),
    Item(
        name="CU masks",
        where="AMD GPU",
        why="HSA_CU_MASK and ROC_GLOBAL_CU_MASK leave a part of the compute units idle, so figures are not the card's",
        fix="drop them from environment.set and pass_through of protocol.yaml (outside of expctl: unset them)",
        applies=has_amd,
        look=_masks,
    ),
    Item(
        name="debugging variables",
        where="GPU",
        why="they serialise launches, bypass the caches of memory, or write every compiled kernel to a file",
        fix="drop them from environment.set and pass_through of protocol.yaml (outside of expctl: unset them)",
        applies=lambda snapshot: bool(snapshot.vendors),
        look=_debugging,
    ),
)
