"""A target that is built as an earlier one is has to be named to decide."""

import pytest
from msgspec.structs import replace

from expctl.domain.protocol.model import Protocol
from expctl.domain.protocol.same_build import named_to_decide
from tests.fakes.stage import PROTOCOL


@pytest.mark.parametrize(
    ("decides", "flags", "named"),
    [
        (("all", "rows"), ("-O3",), ("rows",)),
        (("rows", "all"), ("-O3",), ("all",)),
        (("all", "rows"), ("-O2",), ()),
        (("all",), ("-O3",), ()),
    ],
)
def test_the_second_of_one_build_is_named(decides: tuple[str, ...], flags: tuple[str, ...], named: tuple[str, ...]) -> None:
    target = next(iter(PROTOCOL.targets.values()))
    one, other = (replace(target, build=replace(target.build, flags=each)) for each in (("-O3",), flags))
    protocol: Protocol = replace(PROTOCOL, decides=decides, targets={"all": one, "rows": other})
    assert named_to_decide(protocol) == named
