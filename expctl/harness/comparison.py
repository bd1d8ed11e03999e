"""Compares the results of one call with the author's reference."""

from __future__ import annotations

from itertools import combinations

from expctl.harness import arrays
from expctl.harness.author import Author, Values
from expctl.harness.kernel import Kernel
from expctl.harness.limits import Judgement, judge, limits_for
from expctl.harness.mistake import place_of


def compare(author: Author, inputs: Values, results: Values, *, in_outputs: bool) -> Judgement:
    """Return the worst errors of the results, and the first failure. `inputs` are as they were before the call."""
    exact = author.expected(inputs, results, in_outputs=in_outputs)
    if author.kernel_class.check is not Kernel.check:
        return Judgement(rel_l2=0.0, max_abs=0.0, failure=author.own_check(results, exact, inputs))
    judged = [
        _judge(author, each, wanted, _name(number, results))
        for number, (each, wanted) in enumerate(zip(results, exact, strict=True))
    ]
    return Judgement(
        rel_l2=max(each.rel_l2 for each in judged),
        max_abs=max(each.max_abs for each in judged),
        failure=next((each.failure for each in judged if each.failure), None),
    )


def _name(number: int, results: Values) -> str:
    return "result" if len(results) == 1 else f"result {number + 1}"


def _judge(author: Author, result: object, exact: arrays.Array, name: str) -> Judgement:
    kernel, host = author.kernel_class, arrays.to_host(result)
    limits = limits_for(exact, arrays.epsilon(result), kernel.rel_l2, kernel.max_abs)
    return judge(host, exact, limits, name=name, poison=arrays.poison_byte(result))


def hint(author: Author, inputs: Values, results: Values, *, in_outputs: bool) -> str:
    """Return what `call` may have wrong, where results are untouched or right for two inputs exchanged; else an empty text."""
    place = place_of(author.kernel_class, "call")
    if any(arrays.is_poison(arrays.to_host(each), arrays.poison_byte(each)).all() for each in results if in_outputs):
        return f"; nothing at all was written: is the output handed to the build? ({place})"
    for first, second in combinations(range(len(inputs)), 2):
        if _alike(inputs[first], inputs[second]):
            other = list(inputs)
            other[first], other[second] = other[second], other[first]
            if compare(author, tuple(other), results, in_outputs=in_outputs).failure is None:
                return f"; right if inputs {first + 1} and {second + 1} are exchanged: are they swapped? ({place})"
    return ""


def _alike(one: object, other: object) -> bool:
    if arrays.family(one) and arrays.family(other):
        return arrays.to_host(one).shape == arrays.to_host(other).shape and not arrays.same_bits(one, other)
    return arrays.is_number(one) and arrays.is_number(other) and one != other
