"""Tables that must be refused: what is wrong, the files of the folder, and words that the one message has to have.

They were written from the description of the format, before there was a loader.
"""

from collections.abc import Mapping

NAMES = ("WARPS_M", "WARPS_N", "UNROLL_K", "STAGES", "REPEAT_M", "REPEAT_N")
OP = "scaled_mm_a16w8_e5m2"
SPECIAL = "SCALED_MM-A16W8-E5M2-N=512-K=128.json"
MADE_WITH = '"made_with": {"compiler": "clang 21.1.0", "driver": "", "device": "EPYC"}'
WINNER = '{"WARPS_M": 1, "WARPS_N": 8, "UNROLL_K": 2, "STAGES": 2, "REPEAT_M": 8, "REPEAT_N": 2}'
SMALL = '{"WARPS_M": 1, "WARPS_N": 2, "UNROLL_K": 4, "STAGES": 2, "REPEAT_M": 2, "REPEAT_N": 2}'


def table(*buckets: str, made_with: str = MADE_WITH) -> str:
    """The text of a table with these entries, each a key with its value."""
    return "{" + ", ".join([*([made_with] if made_with else []), *buckets]) + "}"


GOOD = table(f'"M_LEQ_16": {SMALL}', f'"M_LEQ_128": {SMALL}', '"M_GEQ_1024": "build"', f'"any": {WINNER}')

MALFORMED: dict[str, tuple[Mapping[str, str | bytes], tuple[str, ...]]] = {
    "not JSON": ({"DEFAULT.json": '{"any": '}, ("DEFAULT.json", "JSON")),
    "not UTF-8": ({"DEFAULT.json": b'{"any": "\xff"}'}, ("DEFAULT.json", "UTF-8")),
    "a list": ({"DEFAULT.json": "[]"}, ("DEFAULT.json", "object")),
    "nothing": ({"DEFAULT.json": ""}, ("DEFAULT.json", "JSON")),
    "a bucket twice": (
        {"DEFAULT.json": table(f'"M_LEQ_16": {SMALL}', f'"M_LEQ_16": {WINNER}', f'"any": {WINNER}')},
        ("M_LEQ_16", "twice"),
    ),
    "a key of a config twice": (
        {"DEFAULT.json": table(f'"any": {WINNER.replace("}", ", ")}"WARPS_M": 2}}')},
        ("WARPS_M", "twice"),
    ),
    "no any": ({"DEFAULT.json": table(f'"M_LEQ_16": {SMALL}')}, ("any",)),
    "a special file without any, so M above its buckets has none": (
        {"DEFAULT.json": GOOD, SPECIAL: table(f'"M_LEQ_16": {SMALL}')},
        (SPECIAL, "any", "M"),
    ),
    "an unknown bucket": ({"DEFAULT.json": table(f'"M_LT_16": {SMALL}', f'"any": {WINNER}')}, ("M_LT_16", "M_LEQ_")),
    "a bucket of zero rows": ({"DEFAULT.json": table(f'"M_LEQ_0": {SMALL}', f'"any": {WINNER}')}, ("M_LEQ_0",)),
    "a bucket written in two ways": ({"DEFAULT.json": table(f'"M_LEQ_016": {SMALL}', f'"any": {WINNER}')}, ("M_LEQ_016",)),
    "an unknown key of a config": (
        {"DEFAULT.json": table(f'"any": {WINNER.replace("}", ", ")}"kpack": 1}}')},
        ("kpack", "WARPS_M"),
    ),
    "a missing key of a config": (
        {"DEFAULT.json": table(f'"any": {WINNER.replace(chr(34) + "STAGES" + chr(34) + ": 2, ", "")}')},
        ("STAGES", "any"),
    ),
    "a text for a number": (
        {"DEFAULT.json": table(f'"any": {WINNER.replace("8, ", chr(34) + "8" + chr(34) + ", ", 1)}')},
        ("WARPS_N", "'8'"),
    ),
    "true for a number": ({"DEFAULT.json": table(f'"any": {WINNER.replace("1", "true", 1)}')}, ("WARPS_M", "True")),
    "a fraction": ({"DEFAULT.json": table(f'"any": {WINNER.replace("1", "1.0", 1)}')}, ("WARPS_M", "1.0")),
    "not a number": ({"DEFAULT.json": table(f'"any": {WINNER.replace("1", "NaN", 1)}')}, ("NaN",)),
    "a negative number": ({"DEFAULT.json": table(f'"any": {WINNER.replace("1", "-1", 1)}')}, ("WARPS_M", "-1")),
    "an empty config": ({"DEFAULT.json": table('"any": {}')}, ("any", "WARPS_M")),
    "a word that is no config": ({"DEFAULT.json": table('"any": "auto"')}, ("any", "auto", "build")),
    "a list as config": ({"DEFAULT.json": table('"any": [1, 8, 2, 2, 8, 2]')}, ("any",)),
    "not said what it was made with": ({"DEFAULT.json": table(f'"any": {WINNER}', made_with="")}, ("made_with",)),
    "the device is missing": (
        {"DEFAULT.json": table(f'"any": {WINNER}', made_with='"made_with": {"compiler": "a", "driver": "b"}')},
        ("made_with", "device"),
    ),
    "the device is a number": (
        {"DEFAULT.json": table(f'"any": {WINNER}', made_with='"made_with": {"compiler": "a", "driver": "b", "device": 90}')},
        ("device", "90"),
    ),
    "a config that can't be built": (
        {"DEFAULT.json": table(f'"any": {WINNER.replace("8, ", "64, ", 1)}')},
        ("any", "1024 threads"),
    ),
    "a bucket that no M reaches": (
        {"DEFAULT.json": table(f'"M_LEQ_64": {SMALL}', f'"M_GEQ_16": {SMALL}', f'"M_GEQ_32": {SMALL}', f'"any": {WINNER}')},
        ("M_GEQ_16", "no M"),
    ),
    "no default": ({SPECIAL: GOOD}, ("DEFAULT.json",)),
    "a file that is no table's": ({"DEFAULT.json": GOOD, "SCALED_MM-A16W8-E5M2-N=512.json": GOOD}, ("N=512.json",)),
    "a table of another operation": ({"DEFAULT.json": GOOD, "GEMM-A8W8-N=512-K=128.json": GOOD}, ("GEMM-A8W8", OP)),
    "N of zero": ({"DEFAULT.json": GOOD, "SCALED_MM-A16W8-E5M2-N=0-K=128.json": GOOD}, ("N=0",)),
    "N written in two ways": ({"DEFAULT.json": GOOD, "SCALED_MM-A16W8-E5M2-N=0512-K=128.json": GOOD}, ("N=0512",)),
}
