"""The part of `dataclasses` that the rendering uses, without what makes it slow to import.

`generate` runs once per Application and refresh, and the standard module, which imports `inspect`
and compiles methods for every class, would be a third of its time. Here the methods are closures.
Type checkers see the standard module; a test holds that both behave alike. The standard `replace`
works on these records as well.
"""

from operator import attrgetter
from typing import TYPE_CHECKING

__all__ = ["asdict", "dataclass", "field", "fields", "is_dataclass", "replace"]

if TYPE_CHECKING:
    from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
else:
    _MISSING = object()
    _FIELDS = "__dataclass_fields__"
    _set = object.__setattr__

    class Field:
        """How one attribute is made."""

        __slots__ = ("compare", "default", "default_factory", "init", "name", "repr")
        _field_type = None

        def __init__(self, **given):
            self.name = ""
            for key, value in given.items():
                setattr(self, key, value)

    def field(*, default=_MISSING, default_factory=_MISSING, init=True, repr=True, compare=True):
        """Declare an attribute that is more than a name."""
        return Field(
            default=default, default_factory=default_factory, init=init, repr=repr, compare=compare
        )

    def dataclass(cls=None, *, frozen=False, slots=False, kw_only=False, order=False):
        """Make a class of its annotations."""
        if cls is None:
            return lambda each: dataclass(
                each, frozen=frozen, slots=slots, kw_only=kw_only, order=order
            )
        own = _declared(cls)
        if slots:
            left_out = (*own, "__dict__", "__weakref__")
            body = {key: value for key, value in cls.__dict__.items() if key not in left_out}
            cls = type(cls)(cls.__name__, cls.__bases__, {**body, "__slots__": tuple(own)})
        setattr(cls, _FIELDS, own)
        listed = list(own.values())
        cls.__init__ = _init(listed, kw_only=kw_only)
        cls.__repr__ = _repr([each.name for each in listed if each.repr])
        key = _key([each.name for each in listed if each.compare])
        for name in ("__eq__", *(("__lt__", "__le__", "__gt__", "__ge__") if order else ())):
            setattr(cls, name, _compared(key, getattr(tuple, name)))
        cls.__hash__ = (lambda self: hash(key(self))) if frozen else None
        if frozen:
            cls.__setattr__ = cls.__delattr__ = _refuse
        return cls

    def _declared(cls):
        found = {}
        for name in cls.__dict__.get("__annotations__", {}):
            given = cls.__dict__.get(name, _MISSING)
            found[name] = given if isinstance(given, Field) else field(default=given)
            found[name].name = name
        return found

    def _init(listed, *, kw_only):
        names = [each.name for each in listed if each.init]
        defaults = [(each.name, each.default) for each in listed if each.default is not _MISSING]
        made = [
            (each.name, each.default_factory)
            for each in listed
            if each.default_factory is not _MISSING
        ]
        allowed = frozenset(names)
        required = allowed.difference(name for name, _ in (*defaults, *made))

        def __init__(self, *args, **given):
            if args:
                if kw_only or len(args) > len(names):
                    raise TypeError(f"{type(self).__name__} takes no such positional arguments")
                given.update(zip(names, args, strict=False))
            if not required <= given.keys() <= allowed:
                wrong = ", ".join(sorted(required - given.keys() or given.keys() - allowed))
                raise TypeError(f"missing or unknown argument of {type(self).__name__}: {wrong}")
            for name, value in given.items():
                _set(self, name, value)
            for name, value in defaults:
                if name not in given:
                    _set(self, name, value)
            for name, make in made:
                if name not in given:
                    _set(self, name, make())

        return __init__

    def _repr(names):
        def __repr__(self):
            inside = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
            return f"{type(self).__qualname__}({inside})"

        return __repr__

    def _key(names):
        if len(names) > 1:
            return attrgetter(*names)
        return lambda self: tuple([getattr(self, name) for name in names])

    def _compared(key, method):
        def compare(self, other):
            return method(key(self), key(other)) if type(other) is type(self) else NotImplemented

        return compare

    def _refuse(*given):
        raise AttributeError(f"cannot assign to field {given[1]!r}")

    def is_dataclass(value):
        """Whether it is a record, or the class of one."""
        return hasattr(value, _FIELDS)

    def fields(value):
        """Give the fields of a record, in their order."""
        return tuple(getattr(value, _FIELDS).values())

    def replace(value, /, **changes):
        """Give a copy that differs in some attributes."""
        kept = {each.name: getattr(value, each.name) for each in fields(value) if each.init}
        return type(value)(**{**kept, **changes})

    def asdict(value):
        """Give the attributes of a record, and of the records in it, as dicts."""
        if is_dataclass(value):
            return {each.name: asdict(getattr(value, each.name)) for each in fields(value)}
        if isinstance(value, list | tuple):
            return type(value)(map(asdict, value))
        if isinstance(value, dict):
            return {key: asdict(each) for key, each in value.items()}
        return value
