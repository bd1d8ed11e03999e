"""The words of an argv."""

from expctl.adapters.child.arguments import fill


def test_what_is_filled_in_is_not_filled_again() -> None:
    words = {"{artifact}": "/w/{python}/a", "{python}": "/w/{artifact}/py"}
    assert fill(["{python}", "x{artifact}", "--a={artifact}", "{other}"], words) == [
        "/w/{artifact}/py",
        "x/w/{python}/a",
        "--a=/w/{python}/a",
        "{other}",
    ]
    assert fill(["{python}"], {"{python}": "p"}) == ["p"]
