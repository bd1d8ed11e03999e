"""What protocol.yaml lets an experiment set, and what it may never allow."""

import pytest

from expctl.adapters.steps.options_file import options_of, options_text, with_arguments
from expctl.domain.errors import Refused
from expctl.domain.protocol.options import Options, OptionsRule, option_faults, options_rule_faults

RULE = OptionsRule(
    file="src/options.yaml", variables=("SUM_*", "ONE"), arguments=True, interpreters={"new": "/usr/bin/python3"}
)


@pytest.mark.parametrize(
    "options",
    [
        Options(),
        Options(environment={"ONE": "1", "SUM_x": 'with "quotes" and\nlines: {}'}),
        Options(arguments=("--fast", "", "a b")),
        Options(interpreter="new", environment={"SUM_": ""}),
    ],
)
def test_what_is_allowed_is_read_as_it_was_written(options: Options) -> None:
    assert not list(option_faults(RULE, options))
    assert options_of(options_text(options), RULE) == options


@pytest.mark.parametrize(
    ("options", "fault"),
    [
        (Options(environment={"TWO": "2"}), "environment: expected one of SUM_*, ONE, found 'TWO'"),
        (Options(environment={"ONE": "x" * 1001}), "environment.ONE: expected at most 1000 characters, found 1001"),
        (Options(arguments=("x",) * 65), "arguments: expected at most 64 of at most 1000 characters, found 65"),
        (Options(interpreter="old"), "interpreter: expected one of new, found 'old'"),
    ],
)
def test_what_is_not_allowed_is_named(options: Options, fault: str) -> None:
    assert list(option_faults(RULE, options)) == [fault]
    with pytest.raises(Refused, match=r"src/options\.yaml has values that are wrong"):
        options_of(options_text(options), RULE)


def test_a_rule_that_allows_everything_still_keeps_the_loader_of_the_harness() -> None:
    wide = OptionsRule(file="src/options.yaml", variables=("L*", "P*", "E*"))
    for name in ("LD_PRELOAD", "PYTHONPATH", "PATH", "EXPCTL_RUN", "LANG"):
        assert list(option_faults(wide, Options(environment={name: "x"}))), name


@pytest.mark.parametrize("name", ["CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL"])
def test_no_side_chooses_its_card(name: str) -> None:
    """Baseline and candidate would be timed on two cards, and one of them is not locked."""
    wide = OptionsRule(file="src/options.yaml", variables=("CUDA_*", "HIP_*", "R*", "G*"))
    assert list(option_faults(wide, Options(environment={name: "1"})))
    assert list(options_rule_faults(OptionsRule(file="src/o.yaml", variables=(name,)), in_scope=True, fixed={}))


@pytest.mark.parametrize(
    ("variables", "fixed"),
    [(("*",), {}), (("LD_*",), {}), (("PATH",), {}), (("A B",), {}), (("OMP_*",), {"OMP_NUM_THREADS": "1"})],
)
def test_a_rule_that_is_none_is_refused_with_the_protocol(variables: tuple[str, ...], fixed: dict[str, str]) -> None:
    assert len(list(options_rule_faults(OptionsRule(file="src/o.yaml", variables=variables), in_scope=True, fixed=fixed))) == 1
    outside = options_rule_faults(OptionsRule(file="o.yaml"), in_scope=False, fixed={})
    assert list(outside) == ["options.file: expected a file in scope, found 'o.yaml'"]


def test_only_a_whole_word_stands_for_the_arguments() -> None:
    options = Options(arguments=("-a", "b c"))
    assert with_arguments(["x", "{arguments}", "--y={arguments}"], options) == ["x", "-a", "b c", "--y={arguments}"]
    assert with_arguments(["x", "{arguments}"], Options()) == ["x"]
