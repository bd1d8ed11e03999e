"""A difference of two texts, written as a patch, makes the second one of the first."""

import pytest

from expctl.domain.patch.unified_diff import diff_faults, parse_diff, texts_of
from expctl.domain.patch.written_diff import difference

MANY = b"".join(b"line %d\n" % number for number in range(40))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (b"a\nb\nc\n", b"a\nB\nc\n"),
        (MANY, MANY.replace(b"line 3\n", b"").replace(b"line 30\n", b"line 30\nnew\n")),
        (b"a\x0cb\nc\r\n\xc2\x85d\n", b"a\x0cb\nC\r\n\xc2\x85d\n"),  # line ends of Python's alone
        (b"a\nb", b"a\nB"),
        (b"--- a/x\n+++ b/x\n", b"--- a/y\n+++ b/x\n"),
        (b"a\n", b""),
        (None, b"a\nb\n"),
    ],
)
def test_the_patch_makes_the_second_text(before: bytes | None, after: bytes) -> None:
    files = parse_diff(difference("src/k.h", before, after))
    assert not diff_faults(files)
    (made,) = texts_of(files, {"src/k.h": (before or b"").decode()})
    assert (made.path, made.after.encode(), made.whole) == ("src/k.h", after, True)


def test_a_file_that_goes_has_no_name_afterwards() -> None:
    patch = difference("src/k.h", b"a\n", None)
    (file,) = parse_diff(patch)
    assert (file.old, file.new) == ("src/k.h", "")
    assert b"deleted file mode 100644" in patch
