"""Runs in the Python of the steps, alone: prints as JSON what torch says of itself. Arguments: names of inductor's settings."""

import json
import sys
from importlib import import_module
from operator import attrgetter
from typing import Any


def main(keys: list[str]) -> None:
    """Print one line of JSON: precision, inductor's settings, TunableOp's validators, architectures of the CK backend."""
    torch, config = import_module("torch"), import_module("torch._inductor.config")
    facts = {
        "precision": torch.get_float32_matmul_precision(),
        "inductor": {key: str(value) for key in keys if (value := setting(config, key)) is not None},
        "validators": validators(torch),
        "ck_archs": [str(arch) for arch in setting(config, "rocm.ck_supported_arch") or ()],
    }
    print(json.dumps(facts))


def setting(config: Any, key: str) -> Any:
    """Return inductor's setting `key`, e.g. triton.cudagraphs; None where this torch has none of that name."""
    try:
        return attrgetter(key)(config)
    except AttributeError:
        return None


def validators(torch: Any) -> dict[str, str]:
    """Return what TunableOp compares with a file's validators; empty without a GPU of AMD."""
    if torch.version.hip is None or not torch.cuda.is_available():
        return {}
    return {name: str(value) for name, value in import_module("torch.cuda.tunable").get_validators()}


if __name__ == "__main__":
    sys.path.pop(0)  # this folder, whose modules are not torch's business
    main(sys.argv[1:])
