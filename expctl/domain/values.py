"""Dataclasses that cost next to nothing to declare, for whatever the commands load that are typed all day.

The standard library compiles six methods whenever a class is declared: a millisecond for each of a hundred classes, of which
one command makes values of twenty. Here methods are shared, and `__init__` is compiled with the first value. All else is as
there: `dataclasses.fields`, `replace` and `asdict` take these values too. They are always slotted, and never inherit.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
    from dataclasses import field as field
    from dataclasses import replace as replace
else:

    def dataclass(*, slots, frozen=False, kw_only=False):
        """As in the standard library, for slotted classes."""
        if not slots:
            raise TypeError("these are always slotted")
        return lambda body: _declared(body, frozen=frozen, kw_only=kw_only)

    class field:  # noqa: N801  named as in the standard library
        """A default that is made anew for each value."""

        __slots__ = ("default_factory",)

        def __init__(self, *, default_factory):
            self.default_factory = default_factory

    def replace(value, **changes):
        """`value` with some fields changed."""
        return type(value)(**{name: getattr(value, name) for name in value.__slots__} | changes)


class Field(NamedTuple):
    """One field of a class. Where it may be left out (not `needed`), `standing` gives what stands there then."""

    name: str
    needed: bool
    standing: Callable[[], Any]


def is_dataclass(wanted: Any) -> bool:
    """Is it a class declared here, or by the standard library?"""
    return isinstance(wanted, type) and ("__defaults__" in vars(wanted) or hasattr(wanted, "__dataclass_fields__"))


def fields_of(wanted: type) -> tuple[Field, ...]:
    """The fields of such a class, in their order."""
    defaults = vars(wanted).get("__defaults__")
    if defaults is None:
        import dataclasses

        defaults = {
            each.name: each if each.default is dataclasses.MISSING else each.default
            for each in dataclasses.fields(wanted)
            if not (each.default is dataclasses.MISSING and each.default_factory is dataclasses.MISSING)
        }
        names = tuple(each.name for each in dataclasses.fields(wanted))
    else:
        names = vars(wanted)["__slots__"]
    return tuple(Field(name, name not in defaults, _standing(defaults.get(name))) for name in names)


def _standing(default: Any) -> Callable[[], Any]:
    made: Callable[[], Any] | None = getattr(default, "default_factory", None)
    return made or (lambda: default)


def _declared(body: type, *, frozen: bool, kw_only: bool) -> type:
    space = {name: each for name, each in vars(body).items() if name not in ("__dict__", "__weakref__")}
    names = tuple(space.get("__annotations__", ()))
    defaults = {name: space.pop(name) for name in names if name in space}
    methods = SHARED | (FROZEN if frozen else {"__hash__": None}) | space
    return type(body)(
        body.__name__,
        body.__bases__,
        methods
        | {
            "__slots__": names,
            "__defaults__": defaults,
            "__match_args__": () if kw_only else names,
            "__contents__": staticmethod(_contents(names)),
            "__init__": _first,
            "__dataclass_fields__": _StandardFields(),
            "__signature__": _Signature(),
        },
    )


def _contents(names: tuple[str, ...]) -> Callable[[Any], tuple[Any, ...]]:
    """What gives the tuple of all fields of a value."""
    if len(names) > 1:
        return attrgetter(*names)
    return lambda value: tuple([getattr(value, name) for name in names])


def _first(self: Any, *values: Any, **named: Any) -> None:
    """`__init__` until the first value is made."""
    made = type(self)
    made.__init__ = _initialiser(made)
    made.__init__(self, *values, **named)


def _initialiser(made: Any) -> Callable[..., None]:
    """`__init__` with the fields for parameters, which fills slots even where the class is frozen."""
    fields = fields_of(made)
    space: dict[str, Any] = {f"_set_{each.name}": vars(made)[each.name].__set__ for each in fields}
    parameters, lines = [], []
    for name, needed, standing in fields:
        default, value = made.__defaults__.get(name), name
        if not needed:
            anew = type(default) is field
            space[f"_{name}"] = standing if anew else default
            value = f"_{name}() if {name} is _{name} else {name}" if anew else name
        parameters.append(name if needed else f"{name}=_{name}")
        lines.append(f" _set_{name}(self, {value})")
    if parameters and not made.__match_args__:
        parameters.insert(0, "*")
    head = f"def __init__({', '.join(('self', *parameters))}):"
    exec("\n".join((head, *lines, " pass")), space)  # noqa: S102  our own names; as the standard library does
    made_here: Callable[..., None] = space["__init__"]
    made_here.__qualname__ = f"{made.__qualname__}.__init__"
    return made_here


class _StandardFields:
    """What the standard library looks for, made when it does."""

    def __get__(self, _: object, made: Any) -> dict[str, Any]:
        import dataclasses

        told = [
            (each.name, made.__annotations__[each.name], dataclasses.field(default_factory=each.standing))
            if not each.needed
            else (each.name, made.__annotations__[each.name])
            for each in fields_of(made)
        ]
        twin = dataclasses.make_dataclass(made.__name__, told, kw_only=True)
        return {each.name: each for each in dataclasses.fields(twin)}


class _Signature:
    """What `inspect` looks for, for `__init__` says nothing before the first value."""

    def __get__(self, _: object, made: Any) -> Any:
        import inspect
        import typing

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD if made.__match_args__ else inspect.Parameter.KEYWORD_ONLY
        hints = typing.get_type_hints(made)
        return inspect.Signature(
            [
                inspect.Parameter(
                    each.name,
                    kind,
                    annotation=hints[each.name],
                    default=inspect.Parameter.empty if each.needed else each.standing(),
                )
                for each in fields_of(made)
            ]
        )


def _equal(self: Any, other: Any) -> Any:
    return self.__contents__(self) == self.__contents__(other) if type(self) is type(other) else NotImplemented


def _hash(self: Any) -> int:
    return hash(self.__contents__(self))


def _shown(self: Any) -> str:
    return f"{type(self).__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.__slots__)})"


def _refuse(self: Any, name: str, value: object = None) -> None:  # noqa: ARG001  a setter's
    from dataclasses import FrozenInstanceError

    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _copied(self: Any) -> tuple[Any, ...]:
    return _again, (type(self), self.__contents__(self))


def _again(made: type, contents: tuple[Any, ...]) -> Any:
    return made(**dict(zip(vars(made)["__slots__"], contents, strict=True)))


SHARED: dict[str, Any] = {"__eq__": _equal, "__repr__": _shown, "__reduce__": _copied}
FROZEN: dict[str, Any] = {"__hash__": _hash, "__setattr__": _refuse, "__delattr__": _refuse}
