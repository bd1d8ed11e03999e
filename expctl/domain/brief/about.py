"""What of a brief touches the files that were asked for. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import PurePosixPath

from msgspec import Struct

STEM_LEAST = 4
_IDENTIFIER = re.compile(r"[A-Za-z_]\w*[_0-9]\w*|[a-z]+[A-Z]\w*")
_WORD = re.compile(r"[a-z_]\w+")


class About(Struct, frozen=True, kw_only=True):
    """The files that a brief is asked for: their common `path`, and their texts by path at the commit."""

    path: str
    texts: Mapping[str, str]

    def touches(self, paths: Iterable[str], *texts: str) -> bool:
        """Does something touch these files: by its own files `paths`, by naming one, or by code words that stand in them?

        Code words are names with `_`, a digit or a capital inside, such as `s_setprio`. A file is named by its path, its name,
        or a word that begins as its stem does (`stage.h`: stages, staging).
        """
        if any(path == self.path or path.startswith(f"{self.path}/") or path in self.texts for path in paths):
            return True
        said = "\n".join(texts)
        words = set(_WORD.findall(said.lower()))
        stems = {PurePosixPath(path).stem.lower().rstrip("e") for path in self.texts}
        if any(path in said or PurePosixPath(path).name in said for path in self.texts):
            return True
        if any(len(stem) >= STEM_LEAST and word.startswith(stem) for stem in stems for word in words):
            return True
        return bool(set(_IDENTIFIER.findall(said)) & self._identifiers())

    def _identifiers(self) -> set[str]:
        return {name for text in self.texts.values() for name in _IDENTIFIER.findall(text) if len(name) >= STEM_LEAST}
