"""The types of `tune:` of a target in protocol.yaml: what `expctl tune` tries, and where its tables lie."""

from enum import StrEnum

from msgspec import Struct


class Order(StrEnum):
    """Which configs of a bucket are screened: all (`grid`), or `trials` of them, at random or as Optuna's TPE picks them."""

    GRID = "grid"
    RANDOM = "random"
    OPTUNA = "optuna"


class Tune(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is tuned: the folder of `tables` in the scope, the `configs` of the build (1,8,2,2,8,2) and the `shapes` (MxNxK).

    With `define`, each config is first built alone, with this macro as its value: one that does not build, breaks a limit of a
    guard, or has the machine code of another is left out. A screen times `iterations` of each config in each launch; a round of
    style `fine` takes `quads`.
    """

    tables: str
    configs: tuple[str, ...]
    shapes: tuple[str, ...]
    define: str = ""
    iterations: int = 10
    quads: int = 20
    order: Order = Order.GRID
    trials: int = 20
