"""Settings are checked by pydantic models: an unknown key, a wrong type or an impossible value is refused in one line.

The message names the key, the value and what is allowed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo, field_validator

from grandplus.runtime.errors import GrandPlusError

Fraction = Annotated[float, Field(ge=0, lt=1)]
_LARGE = 1e30  # float32 ends at 3e38, and Adam divides a learning rate by 0.1
Positive = Annotated[float, Field(gt=0, le=_LARGE)]
NonNegative = Annotated[float, Field(ge=0, le=_LARGE)]
Count = Annotated[int, Field(ge=1, le=2**31 - 1)]
Natural = Annotated[int, Field(ge=0, le=2**31 - 1)]
Repeats = Annotated[int, Field(ge=1, le=1000)]  # of a step or a layer, one after the other
Temperature = Annotated[float, Field(ge=1e-3, le=1)]  # of sharpened probabilities

# A dataset's name and a file's name become part of a path: no separators, no leading dot.
# A user's file may be named likewise, but with spaces and letters of any alphabet, and lie in folders of its dataset.
_SHA256, _NAME, _PART = "^[0-9a-f]{64}$", r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", r"[^./\\\x00-\x1f][^/\\\x00-\x1f]*"
_FILE = f"^{_PART}(/{_PART})*$"
_WORDS = {
    _SHA256: "64 hexadecimal digits",
    _NAME: "letters from a to z, digits, '_', '.' and '-', and no '.' or '-' at the beginning",
    _FILE: "the name of a file, or its path in a folder; no '.' at the beginning of a name",
}
Sha256 = Annotated[str, Field(pattern=_SHA256)]
Name = Annotated[str, Field(pattern=_NAME)]
FileName = Annotated[str, Field(pattern=_FILE)]
# A column of a table: its name or, where there is no header, its number from 1.
Column = Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)]

_UNION_BRANCH = re.compile(r"\[|^constrained-|^int$|^float$")  # how pydantic names a union's alternatives


class Section(BaseModel):
    """A group of settings: immutable, without unknown keys, and with true and false where a boolean is meant only."""

    # A default is validated too, so that it is of the same type as the value if that is given.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False, validate_default=True)

    @field_validator("*", mode="before")
    @classmethod
    def _a_boolean_is_no_number(cls, value: object, field: ValidationInfo) -> object:
        items = value if isinstance(value, list) else [value]
        if (
            any(isinstance(item, bool) for item in items)
            and cls.model_fields[str(field.field_name)].annotation is not bool
        ):
            raise ValueError("anything but true and false")
        return value


Model = TypeVar("Model", bound=BaseModel)


def validated(model: type[Model], values: dict[str, Any], where: object, prefix: str = "") -> Model:
    """An instance of a model from its values.

    Parameters
    ----------
    model : type of pydantic.BaseModel
    values : dict
        By key.
    where : object
        The file or call that the values come from, for errors.
    prefix : str
        What stands before a key in an error, like ``train.``

    Raises
    ------
    GrandPlusError
        Unknown key, wrong type or impossible value.
    """
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _refusal(error, where, prefix) from None
    except GrandPlusError as error:  # of a model's own validator
        error.found = prefix + error.found
        raise error.at(where) from None


def checked_as(kind: Any, value: object, *, where: object) -> Any:
    """A value that is what its type says, converted if need be.

    Parameters
    ----------
    kind : type
        One that pydantic knows, with its limits.
    value : object
    where : object
        The file or call that it comes from, for errors.

    Raises
    ------
    GrandPlusError
        The value isn't of that type; names the key.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise _refusal(error, where, "") from None


def did_you_mean(wrong: object, known: Iterable[str], prefix: str = "") -> str:
    """A question with the known name that is nearest to a wrong one, for an error.

    Parameters
    ----------
    wrong : object
    known : iterable of str
    prefix : str
        What stands before a name.

    Returns
    -------
    str
        Empty if no name is near.

    Examples
    --------
    >>> did_you_mean("Segmnt", ["age", "segment"]), did_you_mean("size", ["age", "segment"])
    ('did you mean segment?', '')
    """
    by_letters = {name.lower(): name for name in known}
    near = difflib.get_close_matches(str(wrong).lower(), by_letters, n=1)
    return f"did you mean {prefix}{by_letters[near[0]]}?" if near else ""


def check_known(given: dict[str, Any], known: set[str], where: object, prefix: str = "") -> None:
    """Refuse a key that isn't known, and name the nearest one.

    Parameters
    ----------
    given : dict
        Values by key.
    known : set of str
        Keys.
    where : object
        The file or call that the keys come from, for errors.
    prefix : str
        What stands before a key in an error, like ``train.``

    Raises
    ------
    GrandPlusError
        A key of ``given`` is not in ``known``.
    """
    for key in given:
        if key not in known:
            hint = did_you_mean(key, known, prefix)
            allowed = f"one of {', '.join(sorted(known))}"
            found = f"{prefix}{key} = {given[key]!r} is not a setting"
            raise GrandPlusError(found, where=where, expected=allowed, fix=hint)


def _refusal(error: ValidationError, where: object, prefix: str) -> GrandPlusError:
    first = error.errors()[0]
    key = prefix + ".".join(_place(first))
    found = f"{key} is missing" if first["type"] == "missing" else f"{key} is {first['input']!r}".lstrip()
    return GrandPlusError(found, where=where, expected=_allowed(error))


def _allowed(error: ValidationError) -> str:
    """What pydantic would have accepted, over all alternatives of the first failing key."""
    errors = error.errors()
    first = _place(errors[0])
    words = [_WORDS.get(e.get("ctx", {}).get("pattern", ""), e["msg"]) for e in errors if _place(e) == first]
    texts = [re.sub("^(Input should be|Value error,) *|, unable to parse .*", "", message) for message in words]
    return " or ".join(text[0].lower() + text[1:] for text in texts)


def _place(error: Mapping[str, Any]) -> list[str]:
    """The keys that lead to a value, without the alternatives of its type."""
    return [str(part) for part in error["loc"] if not _UNION_BRANCH.search(str(part))]
