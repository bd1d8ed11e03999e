"""Writes docs/ENVIRONMENT.md, the page with every item of the audit of the environment: its name, reason and fix.

`python -m tests.checks.environment_page` writes the page. `--check` compares it instead and fails when it differs.
"""

import re
import sys
from pathlib import Path
from textwrap import fill

from expctl.domain.environment.audit import ITEMS
from expctl.domain.environment.item import Item
from expctl.domain.environment.torch_settings import STOCK

ROOT = Path(__file__).parents[2]
PAGE = Path("docs/ENVIRONMENT.md")
INTRODUCTION = """\
# Is the machine set up to measure on?

    expctl doctor                                   # with all else: what of the environment is to be mended
    expctl doctor env                               # every item that applies here, and what was found
    expctl doctor env --script 'bench/run.py 512'   # runs that program, and names each graph break

What is to be mended looks like this; `advice` costs speed or certainty and leaves the exit status 0, `wrong` makes it 1:

    advice  environment  NUMA balancing: on, and this machine has 2 nodes
            why          the kernel unmaps pages to see who uses them and moves them between nodes, while a launch is timed
            next         sudo sh -c 'echo 0 > /proc/sys/kernel/numa_balancing'

## What is audited

- **The environment of the steps.** A step gets the variables that protocol.yaml sets or passes through, and no others. So a
  variable is set under `environment.set`, not in the shell. Outside of a repository with a protocol, `doctor env` audits
  the shell.
- **What may be measured here.** Items about GPUs count only for makers whose GPU is in this machine and may decide by the
  protocol. A machine without a GPU is not asked for settings of one.
- **torch** is looked at where a script of a step, or a module of the repository that it imports, imports torch. `doctor`
  never imports it. `doctor env` asks it in a child that is ended after 2 minutes; a program of `--script` after 30.
- **Cards** are read from /sys and with `nvidia-smi`; with `amd-smi` or `rocm-smi` where /sys shows no card. Nothing is
  changed, and a card that sleeps is not woken.

## The items

| item | about | why | fix |
|---|---|---|---|
"""
DETAILS = f"""
## What an item compares

- `HSA_OVERRIDE_GFX_VERSION` is right if it names the card's own architecture.
- **debugging variables** are `HSA_DISABLE_FRAGMENT_ALLOCATOR`, `AMD_SERIALIZE_KERNEL`, `AMD_SERIALIZE_COPY`,
  `HIP_LAUNCH_BLOCKING`, `CUDA_LAUNCH_BLOCKING`, `AMDGCN_ENABLE_DUMP`, `MLIR_ENABLE_DUMP`, `TRITON_INTERPRET` and
  `PYTORCH_NO_CUDA_MEMORY_CACHING`, if they are on.
- **clock policy of the CPU** is right with the governor `performance`, or another one whose driver prefers `performance`.
- **clock policy of the GPU** is right as long as the card chooses its clock: AMD's levels `low`, `manual` and
  `profile_min_*` hold it down, as does an applications clock below NVIDIA's default.
- **ECC** is wrong where memory errors could not be corrected; it is advice where ECC is off, or changes at the next reset.
- **hidden inductor defaults** are these settings, where no variable explains another value:
{fill(", ".join(f"`{key}`" for key in STOCK), 118, initial_indent="  ", subsequent_indent="  ")}.
- **results of TunableOp** are refused as stale when a `Validator` line differs: the release of torch, the version of
  ROCm or HIP, the architecture. `doctor` knows these without torch; `doctor env` compares all that torch itself would compare.
- **tables that AITER_CONFIG_\\* names** are refused as stale when no row has this GPU's architecture and number of
  compute units.
- **strides of products** takes type and leading dimensions from the lines of TunableOp's results, where they have `_ld_`.
- **workgroups of products** and **mapping of workgroups to XCDs** read Tensile's names in tables of aiter (`MT`, `GSU`, `WGM`);
  kernels that take several tiles each (`SK`) or map by XCD themselves (`WGMXCC`) are left out.
- **bf16 against f16** compares the times of shapes that one results file has in both types; less than 3 % says nothing.
- **thresholds of M** needs rows of one layer (N, K, type) of which some were won by `torch` and some were not.
- **occupancy of Triton's kernels** is min(floor(V x 4 / W), floor(LDS of the unit / LDS used)) x W / 4, for V waves of a
  SIMD by registers and W warps, of the 64 newest folders of the cache; `doctor env` alone reads them.
- **graph breaks** need a program to look at. At most five are shown.
- **first compilation** looks at the steps whose scripts use `torch.compile`.

Settings that seeds of this project name for other work are not looked at: those of RCCL (no step runs on several GPUs),
of MIOpen (no convolutions), `FLASH_ATTENTION_TRITON_AMD_ENABLE` (no attention).

## What a record keeps

Each record has these facts of the environment in which its target was measured, beside those of the machine:

| fact | example |
|---|---|
| `settings` | `NUMA balancing 0; platform performance` |
| `cards` | `nvidia 9.0: 700 W, ECC on, MIG off`, of the cards on which the target may be timed; equal ones are named once |
| `variables` | variables that GPU runtimes and torch read and that reached the steps from a shell; `none`. Paths are hashed |
| `fingerprint` | 12 hex digits: a hash of all that, and of persistence and displays |

Another value of `settings`, `cards` or `variables` begins a new epoch ([EPOCHS.md](EPOCHS.md));
so does another clock policy or driver.

This page is generated: after a change of an item, run `python -m tests.checks.environment_page`.
"""


def page() -> str:
    """The Markdown of docs/ENVIRONMENT.md."""
    return INTRODUCTION + "".join(f"{_row(each)}\n" for each in ITEMS) + DETAILS


def _row(item: Item) -> str:
    name, *cells = (re.sub(r"([|*])", r"\\\1", cell) for cell in (item.name, item.where, item.why, item.fix))
    return f"| {' | '.join((f'**{name}**', *cells))} |"


def main(arguments: list[str], root: Path = ROOT) -> int:
    """Write the page, or with `--check` compare it. Returns the exit status."""
    file, text = root / PAGE, page()
    if "--check" not in arguments:
        file.write_text(text, "utf-8")
    elif not file.exists() or file.read_text("utf-8") != text:
        print(f"{PAGE} does not say what the items say: run python -m tests.checks.environment_page", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
