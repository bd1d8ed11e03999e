"""Items on how matrix products lie on an AMD GPU, with the figures of the tuned files that steps would read."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator

from expctl.domain.environment.item import Item, Seen, good, has_amd, poor
from expctl.domain.environment.snapshot import AiterProduct, Card, Snapshot, TunedProduct, Vendor
from expctl.domain.environment.tuned_files import is_here

CHANNELS = "gfx942"
"""The architecture whose memory channels are advised about: MI300."""
STRIDE_BYTES = 512
BYTES_OF = {"Half": 2, "BFloat16": 2, "float": 4, "double": 8}
WORKGROUPS_LEAST = 1024
UNITS_OF_XCD = {"gfx942": 38, "gfx950": 32}
"""Compute units of an XCD that are not switched off, by architecture."""
FASTER_LEAST_PERCENT = 3.0
"""By how much bf16 has to be faster over all shapes that were tuned in both types: less is within what a tuner scatters."""
_TILE = re.compile(r"_MT(\d+)x(\d+)x\d+_")
_SPLIT = re.compile(r"_GSU(\d+)(?:_|$)")
_PERSISTENT = re.compile(r"_SK[1-9]\d*(?:_|$)")
_MAPPING = re.compile(r"_WGM(-?\d+)(?:_|$)")
_MAPPED_BY_XCD = re.compile(r"_WGMXCC([2-9]|\d\d+)(?:_|$)")


def _cards(snapshot: Snapshot, *archs: str) -> tuple[Card, ...]:
    return tuple(each for each in snapshot.audited(Vendor.AMD) if each.arch in archs)


def _strided(snapshot: Snapshot) -> list[TunedProduct]:
    """Return the tuned products whose strides in bytes are known."""
    products = [product for file in snapshot.tunable for product in file.products]
    return [each for each in products if each.strides and each.kind in BYTES_OF]


def _rows(snapshot: Snapshot) -> list[AiterProduct]:
    return [product for table in snapshot.aiter for product in table.products if is_here(product.machine, snapshot)]


def _strides(snapshot: Snapshot) -> Iterator[Seen]:
    known = _strided(snapshot)
    found = [each for each in known if any(_is_aligned(each, stride) for stride in each.strides[:2])]
    if found:
        shown = found[0]
        stride = next(stride for stride in shown.strides[:2] if _is_aligned(shown, stride))
        size = stride * BYTES_OF[shown.kind]
        yield poor(
            f"in {len(found)} of {len(known)} tuned products rows of an input lie a multiple of {STRIDE_BYTES} bytes "
            f"apart: {shown.kind} {shown.shape} has {stride} elements, {size} bytes"
        )
    else:
        yield good(f"no input of {len(known)} tuned products has one of a multiple of {STRIDE_BYTES} bytes")


def _is_aligned(product: TunedProduct, stride: int) -> bool:
    return stride > 1 and stride * BYTES_OF[product.kind] % STRIDE_BYTES == 0


def _workgroups(snapshot: Snapshot) -> Iterator[Seen]:
    known = [(count, each) for each in _rows(snapshot) if (count := most_workgroups(each))]
    few = [(count, each) for count, each in known if count < WORKGROUPS_LEAST]
    if few:
        count, each = min(few, key=lambda pair: (pair[0], pair[1].m, pair[1].n, pair[1].k))
        yield poor(
            f"{len(few)} of {len(known)} tuned products start fewer than {WORKGROUPS_LEAST}: {_sizes(each)} starts {count}, "
            f"for {each.machine[1]} compute units"
        )
    else:
        yield good(f"each of {len(known)} tuned products starts at least {WORKGROUPS_LEAST}")


def most_workgroups(product: AiterProduct) -> int:
    """Return how many workgroups the product's kernel starts, by the tile in its name, whichever side of the tile lies along M;
    0 if the name doesn't tell, or says that each workgroup takes several tiles (stream-K).
    """
    tile = _TILE.search(product.kernel)
    if tile is None or not int(tile[1]) or not int(tile[2]) or _PERSISTENT.search(product.kernel):
        return 0
    one, other = int(tile[1]), int(tile[2])
    split = _SPLIT.search(product.kernel)
    return max(product.split, int(split[1]) if split else 1) * max(
        -(-product.m // a) * -(-product.n // b) for a, b in ((one, other), (other, one))
    )


def _mapped(snapshot: Snapshot) -> Iterator[tuple[int, AiterProduct]]:
    """Yield the products whose kernel's name says by what it maps workgroups, with that number."""
    return ((int(found[1]), each) for each in _rows(snapshot) if (found := _MAPPING.search(each.kernel)))


def _mapping(snapshot: Snapshot) -> Iterator[Seen]:
    known = list(_mapped(snapshot))
    for count in sorted({xcds(card) for card in _cards(snapshot, *UNITS_OF_XCD)} - {0, 1}):
        odd = [(each, by) for by, each in known if by % count and not _MAPPED_BY_XCD.search(each.kernel)]
        if odd:
            each, by = odd[0]
            yield poor(
                f"{len(odd)} of {len(known)} tuned products map workgroups by no multiple of the {count} XCDs: {_sizes(each)} "
                f"by {by}"
            )
        else:
            yield good(f"{len(known)} tuned products map workgroups by multiples of the {count} XCDs, or by XCD")


def xcds(card: Card) -> int:
    """Return how many XCDs the card, or its partition, has by its compute units; 0 if these don't tell."""
    units = UNITS_OF_XCD.get(card.arch, 0)
    return 0 if not units or card.compute_units % units else card.compute_units // units


def _types(snapshot: Snapshot) -> Iterator[Seen]:
    half, brain = _both(snapshot)
    gain = 100 * (sum(half) / sum(brain) - 1)
    text = f"{len(half)} shapes were tuned in both types: {sum(half):.4g} ms in f16, {sum(brain):.4g} ms in bf16"
    yield poor(f"{text}, {gain:.1f} % faster") if gain >= FASTER_LEAST_PERCENT else good(text)


def _both(snapshot: Snapshot) -> tuple[list[float], list[float]]:
    """Return the times in f16 and in bf16 of the shapes that one file has in both, in the same order."""
    pairs = []
    for file in snapshot.tunable:
        times = {(each.kind, each.shape, each.strides): each.ms for each in file.products if each.ms}
        pairs += [
            (ms, other)
            for (kind, shape, strides), ms in times.items()
            if kind == "Half" and (other := times.get(("BFloat16", shape, strides)))
        ]
    return [half for half, _ in pairs], [brain for _, brain in pairs]


def _thresholds(snapshot: Snapshot) -> Iterator[Seen]:
    layers: defaultdict[tuple[int, int, str, tuple[str, int]], dict[int, bool]] = defaultdict(dict)
    for each in _rows(snapshot):
        if each.library:
            layers[each.n, each.k, each.dtype, each.machine][each.m] = each.library != "torch"
    mixed = {key: rows for key, rows in layers.items() if len(set(rows.values())) == 2}
    for (n, k, dtype, _), rows in sorted(mixed.items())[:1]:
        tuned, plain = ([m for m, is_tuned in sorted(rows.items()) if is_tuned is wanted] for wanted in (True, False))
        yield poor(
            f"in {len(mixed)} of {len(layers)} layers a tuned product wins for some M and torch for others: "
            f"N={n} K={k} {dtype}: tuned at M={_some(tuned)}, torch at M={_some(plain)}"
        )
    if not mixed:
        yield good(f"in each of {len(layers)} layers the same side wins at every M that was tuned")


def _some(values: list[int]) -> str:
    return ", ".join(map(str, values[:4])) + (", ..." if len(values) > 4 else "")


def _sizes(product: AiterProduct) -> str:
    return f"{product.m}x{product.n}x{product.k}"


def _on(*archs: str, has: Callable[[Snapshot], Iterable[object]]) -> Callable[[Snapshot], bool]:
    """Return the `applies` of an item on cards of `archs` that looks at what `has` returns."""
    return lambda snapshot: bool(_cards(snapshot, *archs)) and any(True for _ in has(snapshot))


ITEMS = (
    Item(
        name="strides of products",
        where="AMD GPU (tuned products)",
        why="on MI300, rows a multiple of 512 bytes apart meet in the same tags of the caches, and wait for one another",
        fix="pad that dimension, say by 64 elements, in the weights and their buffers; then tune and measure again",
        applies=_on(CHANNELS, has=_strided),
        look=_strides,
    ),
    Item(
        name="workgroups of products",
        where="AMD GPU (tuned products)",
        why="with fewer than 1024 workgroups the last ones of a launch leave many of MI300's compute units without work",
        fix="try a smaller tile or a split of K for these shapes, and measure: the tuner weighed only its own kernels",
        applies=_on(CHANNELS, has=lambda snapshot: [each for each in _rows(snapshot) if most_workgroups(each)]),
        look=_workgroups,
    ),
    Item(
        name="mapping of workgroups to XCDs",
        where="AMD GPU (tuned products)",
        why="workgroups are dealt to XCDs in turn, each with an L2 of its own: other mappings read one tile into several",
        fix="tune again with kernels whose WorkGroupMapping is a multiple of the number of XCDs, and compare",
        applies=_on(*UNITS_OF_XCD, has=lambda snapshot: [*_mapped(snapshot)] and [*_mapping(snapshot)]),
        look=_mapping,
    ),
    Item(
        name="bf16 against f16",
        where="AMD GPU (tuned products)",
        why="the units' rate is the same, but bf16 toggles fewer bits, so a card at its power limit runs it at a higher clock",
        fix="run the model in torch.bfloat16, with a limit on the error of its output in the test step",
        applies=lambda snapshot: has_amd(snapshot) and bool(_both(snapshot)[0]),
        look=_types,
    ),
    Item(
        name="thresholds of M",
        where="aiter on an AMD GPU",
        why="a tuned product that is called at every M loses where torch was faster, which can hide what it gains elsewhere",
        fix="call the tuned product only at an M at which it was timed and won",
        applies=lambda snapshot: has_amd(snapshot) and any(each.library for each in _rows(snapshot)),
        look=_thresholds,
    ),
)
