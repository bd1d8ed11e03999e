"""Takes the snapshot of the environment that `expctl doctor` and `expctl doctor env` audit."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from expctl.adapters.child.arguments import shared_variables
from expctl.adapters.child.interpreter import python_of
from expctl.adapters.doctor.torch_answers import torch_facts
from expctl.adapters.doctor.torch_programs import Programs, torch_programs
from expctl.adapters.doctor.tuned_file_reader import aiter_tables, known_validators, tunableop_files
from expctl.adapters.machine.cards import cards_of, timed_on, vendors_here
from expctl.adapters.machine.linux_facts import linux_facts
from expctl.domain.environment.snapshot import Card, Snapshot, TorchFacts, TritonKernel, Vendor
from expctl.domain.protocol.model import Environment, Protocol
from expctl.launcher.interpreter import Interpreter, NoInterpreter, look_at

PACKAGES = ("aiter", "torch", "triton")
OF_THE_USER = ("HOME", "TMPDIR")  # what a program needs that is started by hand; steps get folders of their own


def snapshot_of(
    protocol: Protocol | None,
    environment: Environment,
    root: Path,
    *,
    asks_torch: bool = False,
    program: Sequence[str] = (),
    triton: Callable[[Mapping[str, str]], tuple[TritonKernel, ...]] = lambda _: (),
    machine: Path = Path("/"),
) -> Snapshot:
    """Return the environment of the steps of `protocol`, whose `environment` has its interpreter, in the repository `root`;
    without a protocol, that of a program started from this shell in `root`.

    Torch is imported (in a child) only if `asks_torch` and the steps use it; the command line `program`, a Python file and its
    arguments, is then run to find its graph breaks. `triton` reads the Triton cache of a program with some variables; without
    it, none is read. `machine` is the folder below which the files of Linux lie.
    """
    variables = shared_variables(environment) if protocol else dict(os.environ)
    vendors = _vendors(protocol, machine)
    programs = torch_programs(protocol, root) if protocol else Programs(uses_torch=True)
    uses_torch = programs.uses_torch or bool(program)
    python = _python(python_of(environment), variables) if uses_torch else None
    packages = {name: version for name, version in python.packages.items() if version} if python else {}
    cards = cards_of(vendors, variables, machine)
    return Snapshot(
        variables=variables,
        pinned=frozenset(environment.set) if protocol else frozenset(),
        shell=dict(os.environ) if protocol else {},
        vendors=vendors,
        cards=cards,
        linux=linux_facts(machine),
        packages=packages,
        sets_precision=programs.sets_precision,
        compiled=programs.compiled,
        tunable=tunableop_files(variables, root),
        aiter=aiter_tables(variables, python.folders.get("aiter", "") if python else ""),
        triton=triton({**os.environ, **variables}) if "triton" in packages and Vendor.AMD in vendors else (),
        validators=known_validators(packages.get("torch", ""), _arch(cards), machine),
        torch=_torch(python_of(environment), variables, program, root) if asks_torch and "torch" in packages else TorchFacts(),
    )


def _vendors(protocol: Protocol | None, machine: Path) -> frozenset[Vendor]:
    here = vendors_here(machine)
    if protocol is None:
        return here
    return frozenset(vendor for name in protocol.decides for vendor in timed_on(protocol.targets[name]) if vendor in here)


def _python(python: str, variables: dict[str, str]) -> Interpreter | None:
    try:
        return look_at(python, PACKAGES, variables)
    except NoInterpreter:  # the doctor's part `packages` tells it
        return None


def _arch(cards: tuple[Card, ...]) -> str:
    return next((each.arch for each in cards if each.vendor is Vendor.AMD), "")


def _torch(python: str, variables: dict[str, str], program: Sequence[str], root: Path) -> TorchFacts:
    own = {name: os.environ[name] for name in OF_THE_USER if name in os.environ}
    return torch_facts(python, {**own, **variables}, program, root)
