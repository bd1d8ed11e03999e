"""What is checked of a rule that has no patch: the instruction that it names, and where."""

from expctl.domain.experiment.record import Rule
from expctl.domain.rules.meaning import Compiled, CompiledChange
from expctl.domain.rules.words import CheckedWords, assembly_as_builtins, checked_words, says, tuples_alone


def change(before: dict[str, dict[str, int]], after: dict[str, dict[str, int]]) -> CompiledChange:
    return CompiledChange(before=Compiled(parts=before), after=Compiled(parts=after))


def test_an_instruction_its_operand_its_phase_and_its_sign_are_read() -> None:
    assert checked_words(Rule(text="s_setprio 2 in the load phase.")) == CheckedWords("s_setprio 2", "load", removed=False)
    assert checked_words(Rule(text="Removing s_setprio from the load phase.")) == CheckedWords(
        "s_setprio", "load", removed=True
    )
    assert checked_words(Rule(text="Direct-write decode of B, without the staging step.")) is None
    assert checked_words(Rule(text="s_setprio 2 in the load phase.", patch_id="known")) is None


def test_it_holds_in_its_phase_alone_and_for_its_operand() -> None:
    words = CheckedWords("s_setprio 2", "load", removed=False)
    assert says(words, change({}, {"load": {"s_setprio 2": 1}}))
    assert says(words, change({}, {"load<int>": {"s_setprio 2": 1}}))
    assert not says(words, change({}, {"multiply": {"s_setprio 2": 1}, "load_b": {"s_setprio 2": 1}}))
    assert not says(words, change({}, {"load": {"s_setprio 1": 1, "s_setprio 20": 1}}))
    assert not says(words, change({"load": {"s_setprio 2": 1}}, {"load": {"s_setprio 2": 1}}))


def test_taking_it_away_is_what_a_removal_forbids() -> None:
    words = CheckedWords("s_setprio", "load", removed=True)
    assert says(words, change({"load": {"s_setprio 3": 1}}, {"load": {}}))
    assert not says(words, change({"load": {}}, {"load": {"s_setprio 3": 1}}))
    assert not says(words, change({"multiply": {"s_setprio 3": 1}}, {}))


def test_a_tuple_is_known_when_it_is_the_only_one() -> None:
    settings = {"CONFIGS": "1,8,2"}
    assert tuples_alone(settings, ["X ( 1 , 8 , 2 ) ;"])
    assert not tuples_alone(settings, ["X ( 1 , 8 , 2 ) ; X ( 1 , 8 , 4 ) ;"])
    assert tuples_alone(settings, ["X ( 0x1 , 010 , 2u ) ;"])
    assert not tuples_alone(settings, ["X ( 0x1 , 0x10 , 2 ) ;"])
    assert not tuples_alone({"LIMIT": "3"}, ["X ( 3 )"])


def test_inline_assembly_is_the_builtin_of_its_instruction() -> None:
    text = r'asm volatile ( "v_cvt_pk_f16_fp8_e64 %0, %1\n\ts_setprio 2" : "=v" ( x ) : "v" ( y ) ) ;'
    assert list(assembly_as_builtins(["s_setprio ( 2 ) ;", text])) == [
        "__builtin_amdgcn_cvt_pk_f16_fp8 ( %0, %1 )",
        "__builtin_amdgcn_s_setprio ( 2 )",
    ]
    assert list(assembly_as_builtins(['puts ( "s_setprio 2" ) ;', 'asm ( "" : "+v" ( s_setprio ) ) ;'])) == []
