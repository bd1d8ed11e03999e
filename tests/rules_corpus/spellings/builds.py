"""What `expctl run` would see after its build of a patch: the code of the targets that are built without a device."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from expctl.adapters.child.arguments import fill
from expctl.adapters.codec.strict_yaml import load
from expctl.domain.experiment.record import Artifact
from expctl.domain.patch.unified_diff import parse_diff, texts_of
from expctl.domain.protocol.model import Protocol
from expctl.ports.measuring import Recipe
from expctl.targets.cpu import ZigCpuRecipe
from expctl.targets.gfx1151 import ZigGfxRecipe

HOME = "gfx1151-static"
RECIPES: Mapping[str, Recipe] = {HOME: ZigGfxRecipe(), "cpu": ZigCpuRecipe()}


@cache
def codes(patch: bytes, kernel: frozenset[tuple[str, str]], protocol: bytes) -> Mapping[str, Artifact]:
    """Build a patch on a kernel (paths with their texts) by the targets of a protocol; one that doesn't build is left out."""
    files = dict(kernel)
    files |= {each.path: each.after for each in texts_of(parse_diff(patch), files)}
    found = {}
    with tempfile.TemporaryDirectory() as name:
        tree = Path(name) / "tree"
        for path, text in files.items():
            (tree / path).parent.mkdir(parents=True, exist_ok=True)
            (tree / path).write_text(text)
        for target, recipe in RECIPES.items():
            build, out = load(protocol, Protocol, where="protocol.yaml").targets[target].build, Path(name) / target
            out.mkdir()
            environment = {**os.environ, "ZIG_LOCAL_CACHE_DIR": str(out / "objects")}
            commands = [fill(each, {"{python}": sys.executable}) for each in recipe.commands(build, out=out)]
            if not any(subprocess.run(each, cwd=tree, env=environment, capture_output=True).returncode for each in commands):
                found[target] = Artifact(sha256="", code=recipe.describe(out / build.artifact)[0])
    return found
