"""Identifies patches, so that an equal one is recognised before it is built, in three ways.

The patch id is git's. The normalised change is a hash of the functions and definitions (items) that a patch removes and adds,
each as a whole: it ignores white space, comments, names of locals and line breaks. The settings are the new values of
constants, for a patch that changes nothing else.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct, field

from expctl.domain.patch.code_lines import added_lines
from expctl.domain.patch.constants import plain_values, settings_of, shape_of
from expctl.domain.patch.source_items import C_SUFFIXES, Item, items_of

if TYPE_CHECKING:
    from expctl.domain.patch.unified_diff import FileTexts

DIGITS = 40
PAIRS_MAX = 1_000_000  # of items to be compared; beyond it, everything that changed is one block


class ChangeIdentity(Struct, frozen=True, kw_only=True):
    """What identifies a patch on one baseline.

    A field that can't identify this patch is empty: `change` if only comments changed. `change` is a hash of the normalised
    change, `settings` maps constants to new values if the patch changes only those. `region` has, by file, hashes of the
    baseline's functions and definitions that the patch touches; `shapes` has, by file, the hash of the text without values, if
    the patch changes only values; `added` are its new lines, to be compared with forbidden patterns, and `files` is where they
    stand: path, text and the indices of new lines.
    """

    patch_id: str = ""
    change: str = ""
    settings: Mapping[str, str] = field(default_factory=dict)
    region: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    shapes: Mapping[str, str] = field(default_factory=dict)
    added: tuple[str, ...] = ()
    files: tuple[tuple[str, str, tuple[int, ...]], ...] = ()

    def added_in(self, region: str) -> tuple[str, ...]:
        """Return the new lines that lie in a region (domain/patch/regions.py); "" is everywhere."""
        if not region:
            return self.added
        from expctl.domain.patch.regions import lies_in, places_of

        found: list[str] = []
        for path, text, added in self.files:
            places = places_of(path, text)
            found += added_lines(path, text, tuple(at for at in added if lies_in(places[at], region)))
        return tuple(found)


def identify(files: Sequence[FileTexts], *, patch_id: str) -> ChangeIdentity:
    """Return what identifies a patch. `files` are its files before and after, `patch_id` is what `git patch-id` prints."""
    lines: list[str] = []
    region: dict[str, tuple[str, ...]] = {}
    old_items: dict[str, Sequence[Item]] = {}
    pairs: list[tuple[Sequence[Item], Sequence[Item]]] = []
    for file in sorted(files, key=lambda each: each.path):
        before, after = items_of(file.path, file.before), items_of(file.path, file.after)
        blocks = list(_blocks(before, after))
        if not blocks:
            continue
        named = file.path.endswith(C_SUFFIXES)
        for old, new, near in blocks:
            pairs.append((old, new))
            lines.append(f"{file.path} {'' if named else near.key if near else '^'}")
            lines += [f"-{item.key}" for item in old] + [f"+{item.key}" for item in new]
        touched = [item for old, _, near in blocks for item in (old or ([near] if near else []))]
        region[file.path] = tuple(dict.fromkeys(item.key for item in touched))
        old_items[file.path] = before
    settings = settings_of(pairs)
    return ChangeIdentity(
        patch_id=patch_id,
        change=_hash("\n".join(lines)) if lines else "",
        settings=settings,
        region=region,
        shapes={path: shape_hash(items) for path, items in old_items.items()} if settings else {},
        added=tuple(line for file in files for line in added_lines(file.path, file.after, file.added)),
        files=tuple((file.path, file.after, file.added) for file in files),
    )


def settings_hash(settings: Mapping[str, str]) -> str:
    """Return a hash of constants (name -> value) that is equal for `16` and `0x10`; empty for none."""
    return _hash("\n".join(f"{name} = {value}" for name, value in sorted(plain_values(settings).items()))) if settings else ""


def shape_hash(items: Sequence[Item]) -> str:
    """Return a hash of the items of a source file that stays equal when only values of constants change."""
    return _hash(shape_of(items))[:16]


def item_keys(path: str, text: str) -> frozenset[str]:
    """Return the hashes of the functions, definitions and directives in the source file `path` with the contents `text`."""
    return frozenset(item.key for item in items_of(path, text))


def _blocks(before: Sequence[Item], after: Sequence[Item]) -> Iterator[tuple[Sequence[Item], Sequence[Item], Item | None]]:
    """Yield (removed items, added items, the item before them) for each place where two versions of a file differ."""
    old, new = ([item.key for item in side] for side in (before, after))
    head = next((i for i, (one, other) in enumerate(zip(old, new, strict=False)) if one != other), min(len(old), len(new)))
    most = min(len(old), len(new)) - head
    tail = next((i for i in range(most) if old[-1 - i] != new[-1 - i]), most)
    between = old[head : len(old) - tail], new[head : len(new) - tail]
    if not 0 < len(between[0]) * len(between[1]) <= PAIRS_MAX:
        if any(between):
            yield before[head : len(old) - tail], after[head : len(new) - tail], before[head - 1] if head else None
        return
    import difflib  # it takes a while

    for kind, i, j, k, end in difflib.SequenceMatcher(None, *between, autojunk=False).get_opcodes():
        if kind != "equal":
            yield before[head + i : head + j], after[head + k : head + end], before[head + i - 1] if head + i else None


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:DIGITS]
