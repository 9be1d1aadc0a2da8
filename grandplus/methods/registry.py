"""Methods by their names: the folders beside this file."""

from __future__ import annotations

import importlib
import pkgutil
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Protocol, cast

from grandplus import methods
from grandplus.methods.settings import MethodSettings
from grandplus.runtime.errors import ArgumentError, GrandPlusError
from grandplus.runtime.validation import did_you_mean

if TYPE_CHECKING:
    from grandplus.methods.protocol import Method

NAMES = tuple(sorted(module.name for module in pkgutil.iter_modules(methods.__path__) if module.ispkg))


class SettingsModule(Protocol):
    """What ``methods/<name>/settings.py`` has."""

    NEEDS_ROWS: bool
    PUBLISHED: dict[str, dict[str, Any]]
    Settings: type[MethodSettings]


def settings_of(name: str) -> SettingsModule:
    """The settings of a method; this imports no torch.

    Raises
    ------
    ArgumentError
        There is no such method.
    GrandPlusError
        Its module can't be imported, or lacks something.

    Examples
    --------
    >>> settings_of("grandplus").NEEDS_ROWS
    True
    """
    return cast(SettingsModule, _module(name, "settings", "Settings", "PUBLISHED", "NEEDS_ROWS"))


def method_of(name: str) -> Method:
    """The method itself.

    Raises
    ------
    ArgumentError
        There is no such method.
    GrandPlusError
        Its module can't be imported, or lacks something; or its layers are from a package that is not installed.
    """
    check_installed(name)
    return cast("Method", _module(name, "method", "fit", "Model"))


def check_method(name: object, what: str = "model", where: str = "") -> None:
    """Check that there is a method of that name.

    Parameters
    ----------
    name : object
    what : str
        What it was given as.
    where : str
        The file that it stands in.

    Raises
    ------
    ArgumentError
        There is none; says which there are, and the nearest.

    Examples
    --------
    >>> check_method("GCN")
    Traceback (most recent call last):
    grandplus.runtime.errors.ArgumentError: model is 'GCN'; expected one of appnp, ...; did you mean gcn?
    """
    if name not in NAMES:
        expected = f"one of {', '.join(NAMES)}"
        raise ArgumentError(f"{what} is {name!r}", where=where, expected=expected, fix=did_you_mean(name, NAMES))


def check_installed(name: str) -> None:
    """Check that the package of a method's layers is there, before any work is done for it; this imports no torch.

    Parameters
    ----------
    name : str
        Of the method.

    Raises
    ------
    ArgumentError
        There is no such method.
    GrandPlusError
        The package is not installed.

    Examples
    --------
    >>> check_installed("sgc")
    """
    package = settings_of(name).Settings.layers_from
    if package and find_spec(package) is None:
        raise GrandPlusError(f"{name} needs {package}, which is not installed", fix="pip install 'grandplus[compared]'")


def check_edges(name: str, *, weighted: bool, directed: bool, to_ignore: str, both_ways: str) -> None:
    """Check that a method takes a graph's edges as they are.

    Parameters
    ----------
    name : str
        Of the method.
    weighted, directed : bool
        Whether edges have weights that are used, and whether they count in one direction only.
    to_ignore, both_ways : str
        What to change so that they don't.

    Raises
    ------
    GrandPlusError
        It does not; says which methods do, and what to change.

    Examples
    --------
    >>> fixes = {"to_ignore": "set edge_weights to ignore", "both_ways": "set direction to both"}
    >>> check_edges("grandplus", weighted=True, directed=True, **fixes)
    >>> check_edges("gat", weighted=True, directed=False, **fixes)
    Traceback (most recent call last):
    grandplus.runtime.errors.GrandPlusError: gat takes no weights of edges; set edge_weights to ignore, or choose ...
    """
    kinds = (
        (directed, "takes_direction", "edges that count in one direction only", both_ways),
        (weighted, "takes_weights", "weights of edges", to_ignore),
    )
    for has, flag, what, instead in kinds:
        if has and not getattr(settings_of(name).Settings, flag):
            others = ", ".join(other for other in NAMES if getattr(settings_of(other).Settings, flag))
            fix = f"{instead}, or choose the method {others}"
            raise GrandPlusError(f"{name} takes no {what}", fix=fix)


def name_of(settings: object) -> str:
    """The name of the method that settings are of.

    Raises
    ------
    ArgumentError
        They are of no method.

    Examples
    --------
    >>> name_of(settings_of("sgc").Settings())
    'sgc'
    """
    for name in NAMES:
        if isinstance(settings, settings_of(name).Settings):
            return name
    raise ArgumentError(f"settings is a {type(settings).__name__}", expected="the settings of a method")


def _module(name: str, part: str, *needed: str) -> Any:
    check_method(name)
    full = f"{methods.__name__}.{name}.{part}"
    try:
        module = importlib.import_module(full)
    except (ImportError, SyntaxError) as error:
        raise GrandPlusError(f"can't be imported: {error}", where=full, fix="mend it, or remove its folder") from None
    for member in needed:
        if not hasattr(module, member):
            raise GrandPlusError(f"has no {member}", where=full, fix="add it, or remove its folder")
    return module
