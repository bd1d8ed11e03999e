"""Find the operator, module and layer that launched each kernel of a torch.profiler trace.

A kernel has the correlation id of the runtime call that launched it; the operators and modules that were open on that thread
at that time are its origin. Where the trace lacks that call, the kernel's `External id` names the operator.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from expctl.profiles.model.origin import Origin
from expctl.profiles.readers.json_file import integer, mapping, sequence
from expctl.profiles.roofline.operator_work import OperatorCall, OperatorWork, operator_work

MODULE = "nn.Module: "
RUNTIME = ("cuda_runtime", "cuda_driver", "hip_runtime", "hip_driver", "privateuse1_runtime")
Thread = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class Launched:
    """One kernel: its name, duration in ns, and the ids that lead to what launched it (None if absent)."""

    name: str
    duration_ns: int
    correlation: int | None
    external: int | None


@dataclass(slots=True)
class _Span:
    start: float
    end: float
    event: Mapping[str, Any]


@dataclass(slots=True)
class _Totals:
    calls: int = 0
    total_ns: int = 0
    worked: int = 0
    flop: float | None = None
    bytes_least: float | None = None
    results: float | None = None


@dataclass(slots=True)
class _Threads:
    spans: dict[Thread, list[_Span]] = field(default_factory=dict)
    runtime: dict[int, tuple[Thread, float]] = field(default_factory=dict)
    external: dict[int, tuple[Thread, float]] = field(default_factory=dict)


def origins_of(events: Iterable[Any], kernels: Sequence[Launched]) -> dict[str, tuple[Origin, ...]]:
    """Return the origins of `kernels` by kernel name, most time first; {} for a trace without operators and modules. `events`
    are those of the whole trace.
    """
    threads = _read(events)
    if not threads.spans:
        return {}
    stacks = _stacks(threads, kernels)
    layers = _layers(stack for stack in stacks if stack)
    works = _works(kernels, stacks)
    sums: dict[tuple[str, tuple[str, ...], tuple[str, ...], str], _Totals] = {}
    for kernel, stack, work in zip(kernels, stacks, works, strict=True):
        operators, modules = _names(stack)
        into = sums.setdefault((kernel.name, operators, modules, work.kind if work else ""), _Totals())
        into.calls += 1
        into.total_ns += kernel.duration_ns
        if work is not None:
            into.worked += 1
            into.flop = _plus(into.flop, work.flop)
            into.bytes_least = _plus(into.bytes_least, work.bytes_least)
            into.results = _plus(into.results, work.results)
    found: dict[str, list[Origin]] = {}
    for (name, operators, modules, kind), each in sums.items():
        known = each.worked == each.calls
        origin = Origin(
            operators=operators,
            modules=modules,
            layer=layers.get(modules, ""),
            calls=each.calls,
            total_ns=each.total_ns,
            flop=each.flop if known else None,
            bytes_least=each.bytes_least if known else None,
            results=each.results if known else None,
            kind=kind,
        )
        found.setdefault(name, []).append(origin)
    return {name: tuple(sorted(all_of, key=lambda each: -each.total_ns)) for name, all_of in found.items()}


def _read(events: Iterable[Any]) -> _Threads:
    found = _Threads()
    for event in events:
        if not isinstance(event, dict) or event.get("ph") != "X":
            continue
        category, name = event.get("cat"), str(event.get("name", ""))
        runtime = category in RUNTIME
        if not runtime and category != "cpu_op" and not (category == "python_function" and name.startswith(MODULE)):
            continue
        thread, arguments = (event.get("pid"), event.get("tid")), mapping(event.get("args"))
        try:
            start = float(event.get("ts") or 0)
            end = start + float(event.get("dur") or 0)
        except (TypeError, ValueError):
            continue  # an event of the host without a time has no place among the others
        if runtime:
            if (correlation := integer(arguments.get("correlation"))) is not None:
                found.runtime[correlation] = (thread, start)
            continue
        found.spans.setdefault(thread, []).append(_Span(start, end, event))
        if category == "cpu_op" and (external := integer(arguments.get("External id"))) is not None:
            found.external[external] = (thread, start)
    return found


def _stacks(threads: _Threads, kernels: Sequence[Launched]) -> list[tuple[_Span, ...]]:
    """Return for each kernel the spans that were open when it was launched, outermost first; () where that isn't known."""
    wanted: dict[Thread, list[tuple[float, int]]] = {}
    for number, kernel in enumerate(kernels):
        place = threads.runtime.get(kernel.correlation) if kernel.correlation is not None else None
        if place is None or place[0] not in threads.spans:
            place = threads.external.get(kernel.external) if kernel.external is not None else None
        if place is not None:
            wanted.setdefault(place[0], []).append((place[1], number))
    found: list[tuple[_Span, ...]] = [()] * len(kernels)
    for thread, launches in wanted.items():
        spans = sorted(threads.spans.get(thread, ()), key=lambda span: (span.start, -span.end))
        stack: list[_Span] = []
        at = 0
        for time, number in sorted(launches):
            while at < len(spans) and spans[at].start <= time:
                stack = [span for span in stack if span.end > spans[at].start] + [spans[at]]
                at += 1
            stack = [span for span in stack if span.end >= time]
            found[number] = tuple(stack)
    return found


def _names(stack: Sequence[_Span]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the names of operators and of modules in a stack, outermost first."""
    names = [str(span.event.get("name", "")) for span in stack]
    operators = tuple(name for name in names if not name.startswith(MODULE))
    return operators, tuple(name.removeprefix(MODULE) for name in names if name.startswith(MODULE))


def _layers(stacks: Iterable[tuple[_Span, ...]]) -> dict[tuple[str, ...], str]:
    """Return the layer for each chain of modules. It is the outermost module that contains others and has a sibling of its
    class, as `BertLayer_3` has; else the innermost one that contains others.
    """
    chains = {_names(stack)[1] for stack in stacks}
    parents = {chain[:length] for chain in chains for length in range(1, len(chain))}
    siblings: dict[tuple[tuple[str, ...], str], set[str]] = {}
    for path in parents:
        siblings.setdefault((path[:-1], path[-1].rpartition("_")[0]), set()).add(path[-1])
    found = {}
    for chain in chains:
        inner = [chain[:length] for length in range(1, len(chain) + 1) if chain[:length] in parents]
        repeated = [path for path in inner if len(siblings[path[:-1], path[-1].rpartition("_")[0]]) > 1]
        found[chain] = repeated[0][-1] if repeated else inner[-1][-1] if inner else ""
    return found


def _works(kernels: Sequence[Launched], stacks: Sequence[tuple[_Span, ...]]) -> list[OperatorWork | None]:
    """Return the work of each kernel. Of the kernels that one call of an operator launched, the longest gets all of its work,
    because the others prepare or finish it.
    """
    longest: dict[int, int] = {}
    for number, stack in enumerate(stacks):
        if stack and not str(stack[-1].event.get("name", "")).startswith(MODULE):
            key = id(stack[-1])
            if key not in longest or kernels[number].duration_ns > kernels[longest[key]].duration_ns:
                longest[key] = number
    found: list[OperatorWork | None] = [None] * len(kernels)
    for number in longest.values():
        found[number] = _work(stacks[number][-1].event)
    return found


def _work(event: Mapping[str, Any]) -> OperatorWork | None:
    arguments = mapping(event.get("args"))
    shapes = [
        shape if isinstance(shape, list) and all(isinstance(each, int) for each in shape) else []  # a list of tensors: unknown
        for shape in sequence(arguments.get("Input Dims"))
    ]
    call = OperatorCall(
        name=str(event.get("name", "")).removeprefix("aten::"),
        shapes=shapes,
        types=[str(each) for each in sequence(arguments.get("Input type"))],
        values=[str(each) for each in sequence(arguments.get("Concrete Inputs"))],
    )
    return operator_work(call)


def _plus(total: float | None, value: float | None) -> float | None:
    return total if value is None else (total or 0.0) + value
