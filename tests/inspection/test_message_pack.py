"""MessagePack, byte by byte as the specification lists it."""

import pytest

from expctl.inspection.readers.message_pack import BadMessage, unpack

VALUES = {
    b"\xc0": None,
    b"\xc2": False,
    b"\xc3": True,
    b"\x7f": 127,
    b"\xe0": -32,
    b"\xff": -1,
    b"\xcc\xff": 255,
    b"\xcd\x01\x00": 256,
    b"\xce\x00\x01\x00\x00": 65536,
    b"\xcf" + bytes([0, 0, 0, 1, 0, 0, 0, 0]): 1 << 32,
    b"\xd0\x80": -128,
    b"\xd1\x80\x00": -32768,
    b"\xd2\xff\xff\xff\xff": -1,
    b"\xd3" + b"\xff" * 8: -1,
    b"\xca\x3f\x80\x00\x00": 1.0,
    b"\xcb\x3f\xf0" + bytes(6): 1.0,
    b"\xa2hi": "hi",
    b"\xd9\x02hi": "hi",
    b"\xda\x00\x02hi": "hi",
    b"\xdb\x00\x00\x00\x02hi": "hi",
    b"\xc4\x02hi": b"hi",
    b"\x92\x01\xa1a": [1, "a"],
    b"\xdc\x00\x02\x01\x02": [1, 2],
    b"\xdd\x00\x00\x00\x01\x02": [2],
    b"\x81\xa1a\x91\xc0": {"a": [None]},
    b"\xde\x00\x01\x01\x02": {1: 2},
    b"\xdf\x00\x00\x00\x01\x01\x02": {1: 2},
    b"\x05\x00\x00": 5,  # padding
}


@pytest.mark.parametrize("data", VALUES)
def test_values(data: bytes) -> None:
    assert unpack(data) == VALUES[data]


@pytest.mark.parametrize(
    "data", [b"", b"\xa5hi", b"\xcd\x01", b"\x92\x01", b"\xc1", b"\xd4\x01\x02", b"\xa1\xff", b"\x91" * 100]
)
def test_what_is_damaged_or_unknown_is_refused(data: bytes) -> None:
    with pytest.raises(BadMessage):
        unpack(data)
