"""Environments as JSON: flattened, printable, or refused."""

from pathlib import Path

import pytest

from expctl.domain.errors import Refused
from expctl.screening.environment_file import environment_of


def read(folder: Path, text: str | bytes) -> dict[str, str]:
    file = folder / "env.json"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return environment_of(file)


def test_values_become_text_and_nested_keys_are_joined(tmp_path: Path) -> None:
    text = '\ufeff{"env": "tot", "n": 1.50, "on": true, "no": null, "l": [1, "ü"], "e": {}, "a": {"b": {"c": "x"}, "d": 2}}'
    assert read(tmp_path, text) == {
        "env": "tot",
        "n": "1.5",
        "on": "true",
        "no": "null",
        "l": '[1, "ü"]',
        "e": "{}",
        "a.b.c": "x",
        "a.d": "2",
    }


def test_a_lone_surrogate_can_be_printed(tmp_path: Path) -> None:
    assert read(tmp_path, '{"a\\ud800": "b\\udfff"}') == {"a\\ud800": "b\\udfff"}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("", "Expecting value"),
        ("[1]", "a list"),
        ('"tot"', 'only "tot"'),
        ("null", "only null"),
        ('{"a": NaN}', "NaN is not a number"),
        ('{"a": 1, "a": 2}', "a key appears twice"),
        ('{"a": {"b": 1}, "a.b": 2}', "a key appears twice"),
        (b'{"a": "\xff"}', "'utf-8' codec can't decode"),
        ('{"a":' * 100_000, "recursion"),
        (" " * 1_000_001, "more"),
    ],
)
def test_what_is_no_environment_is_refused(text: str | bytes, found: str, tmp_path: Path) -> None:
    with pytest.raises(Refused) as caught:
        read(tmp_path, text)
    assert found in caught.value.found
