"""params.yaml and a dataset card -> one validated, immutable ``Settings``.

A value that is null (or absent) in ``params.yaml`` is taken from the card, one that the card lacks from the class
of its section. Everything is then checked: unknown keys, wrong types and impossible values are refused with the
key, the value and what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SerializeAsAny

from grandplus.datasets.source import Expect, Source
from grandplus.graph.settings import Preprocess
from grandplus.methods.registry import NAMES, settings_of
from grandplus.pipeline.card import PARAMS, Card, card_file, checked_card, read_card
from grandplus.propagation.matrices import MATRICES, Family, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Name, Section, check_known, validated
from grandplus.runtime.yaml_files import read_yaml, yaml_mapping

PLAIN = ("dataset", "model", "matrix", "seed", "trials")  # settings that are in no section
SECTIONS = ("synthetic", "preprocess", "gfpush", "train")
DEFAULT, CARD = "default", "card"  # where a value comes from, beside params.yaml


class Synthetic(Section):
    """How a synthetic graph differs from its card."""

    scale: Annotated[float, Field(gt=0, le=100)] = 1.0  # nodes and edges times it


class Settings(Section):
    """Everything that a run depends on, resolved."""

    dataset: Name
    model: Name  # the method
    matrix: Family
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    trials: Annotated[int, Field(ge=1, le=100_000)]
    expect: Expect | None
    source: Source
    synthetic: Synthetic
    preprocess: Preprocess
    gfpush: GFPush
    train: SerializeAsAny[Section]  # the method's own class

    def flat(self) -> dict[str, Any]:
        """The values by the keys that a user has for them in params.yaml, sections as nested mappings."""
        matrix = self.matrix.model_dump(by_alias=True, exclude={"name"})
        sections = {key: getattr(self, key).model_dump() for key in SECTIONS}
        plain = {key: getattr(self, key) for key in PLAIN} | {"matrix": self.matrix.name}
        return plain | sections | {"gfpush": matrix | sections["gfpush"]}


class Resolved(Section):
    """Settings, and where each of their values comes from."""

    settings: Settings
    origins: dict[str, str]  # by key, like "train.lr": params.yaml, card or default
    changed: dict[str, list[Any]]  # what differs from the card, as {"train.lr": [the card's, the run's]}


def load_settings(root: Path | str = ".", **overrides: Any) -> Settings:
    """Read ``params.yaml`` and the card that it names, below ``root``.

    Parameters
    ----------
    root : path
        The top of a checkout.
    **overrides
        Top-level values to use instead of those in ``params.yaml``: ``dataset="cora"``, …

    Raises
    ------
    GrandPlusError
        Unknown key, wrong type or impossible value, with its file and key.
    """
    return resolve(root, **overrides).settings


def resolve(root: Path | str = ".", **overrides: Any) -> Resolved:
    """The same, with the origin of each value."""
    root = Path(root)
    params = read_yaml(root / PARAMS) | overrides
    return _resolved(params, lambda name: read_card(root / card_file(root, name)))


def settings_of_card(card: str, dataset: str) -> Settings:
    """What a card alone gives.

    Parameters
    ----------
    card : str
        Its text.
    dataset : str
        Its name.
    """
    params = {"dataset": dataset, "model": "grandplus", "matrix": "avg", "seed": 0, "trials": 1}
    read = checked_card(yaml_mapping(card, f"{dataset}.yaml"), f"{dataset}.yaml")
    return _resolved(params, lambda _: read).settings


def _resolved(params: dict[str, Any], card_of: Callable[[Any], Card]) -> Resolved:
    check_known(params, {*PLAIN, *SECTIONS}, PARAMS)
    for key in PLAIN:
        if params.get(key) is None:
            raise GrandPlusError(f"{key} is missing", where=PARAMS, fix=f"set {key}")
    name, model, matrix = params["dataset"], params["model"], params["matrix"]
    for key, value, known in (("model", model, NAMES), ("matrix", matrix, tuple(MATRICES))):
        if value not in known:
            raise GrandPlusError(f"{key} is {value!r}", where=PARAMS, expected=f"one of {', '.join(known)}")
    card, method = card_of(name), settings_of(model)
    given = {section: _given(params, section, matrix, model) for section in SECTIONS}
    lower = {
        "synthetic": {},
        "preprocess": card.preprocess.model_dump(),
        "gfpush": card.overrides("gfpush", matrix),
        # A card's values are of GRAND+; another method has its authors'.
        "train": card.overrides("train", matrix) if model == "grandplus" else method.PUBLISHED.get(name, {}),
    }
    merged = {section: lower[section] | given[section] for section in SECTIONS}
    own = parameters(MATRICES[matrix])
    for key, required in own.items():
        if required and key not in merged["gfpush"]:
            raise GrandPlusError(f"gfpush.{key} is null", where=PARAMS, expected=f"a value, as matrix is {matrix}")
    of_matrix = {key: value for key, value in merged["gfpush"].items() if key in own}
    of_push = {key: value for key, value in merged["gfpush"].items() if key not in own}
    values = {key: params[key] for key in PLAIN} | {
        "expect": card.expect,
        "source": card.source,
        "matrix": validated(MATRICES[matrix], of_matrix, PARAMS, "gfpush."),
        "gfpush": validated(GFPush, of_push, PARAMS, "gfpush."),
        "synthetic": validated(Synthetic, merged["synthetic"], PARAMS, "synthetic."),
        "preprocess": validated(Preprocess, merged["preprocess"], PARAMS, "preprocess."),
        "train": validated(method.Settings, merged["train"], PARAMS, "train."),
    }
    settings = validated(Settings, values, PARAMS)
    scale = settings.synthetic.scale
    if scale != 1 and settings.source.synthetic is None:
        found = f"synthetic.scale = {scale:g} has no effect, as {name} is not synthetic"
        raise GrandPlusError(found, where=PARAMS, fix="set it to 1")
    return Resolved(
        settings=settings,
        origins=_origins(settings, given, lower, model),
        changed=_changed(settings, given, lower),
    )


def _given(params: dict[str, Any], section: str, matrix: str, model: str) -> dict[str, Any]:
    """A section's values in params.yaml that are not null: all of them known, and of effect."""
    own = {} if params.get(section) is None else params[section]
    if not isinstance(own, dict):
        raise GrandPlusError(f"{section} is {own!r}", where=PARAMS, expected="a mapping")
    users = _users(section)
    check_known(own, set(users), PARAMS, f"{section}.")
    given = {key: value for key, value in own.items() if value is not None}
    kind, chosen = ("model", model) if section == "train" else ("matrix", matrix)
    for key, value in given.items():
        if users[key] and chosen not in users[key]:
            found = f"{section}.{key} = {value} has no effect, as {kind} is {chosen}"
            raise GrandPlusError(found, where=PARAMS, fix=f"set it to null, or {kind} to {' or '.join(users[key])}")
    return given


def _users(section: str) -> dict[str, list[str]]:
    """The keys of a section, each with the matrices or methods that use it; with none, if all do."""
    if section == "train":
        fields = {name: settings_of(name).Settings.model_fields for name in NAMES}
        return {key: [name for name in NAMES if key in fields[name]] for name in NAMES for key in fields[name]}
    if section == "gfpush":
        families = {name: parameters(family) for name, family in MATRICES.items()}
        of_matrix = {
            key: [name for name in families if key in families[name]] for own in families.values() for key in own
        }
        return of_matrix | {key: [] for key in GFPush.model_fields}
    return {key: [] for key in {"synthetic": Synthetic, "preprocess": Preprocess}[section].model_fields}


def _changed(
    settings: Settings, given: dict[str, dict[str, Any]], lower: dict[str, dict[str, Any]]
) -> dict[str, list[Any]]:
    classes = {section: type(getattr(settings, section)).model_fields for section in SECTIONS}
    classes["gfpush"] = {**type(settings.matrix).model_fields, **classes["gfpush"]}
    pairs = {}
    for section, values in settings.flat().items():
        for key, value in values.items() if section in SECTIONS else ():
            field = classes[section].get(key)
            default = None if field is None or field.is_required() else field.default
            pairs[f"{section}.{key}"] = [lower[section].get(key, default), value]
    return {key: pair for key, pair in pairs.items() if pair[0] != pair[1]}


def _origins(
    settings: Settings, given: dict[str, dict[str, Any]], lower: dict[str, dict[str, Any]], model: str
) -> dict[str, str]:
    published = CARD if model == "grandplus" else f"{model}'s authors"
    origins = dict.fromkeys(PLAIN, PARAMS)
    for section, values in settings.flat().items():
        if section in SECTIONS:
            for key in values:
                source = published if section == "train" else CARD
                source = PARAMS if key in given[section] else source if key in lower[section] else DEFAULT
                origins[f"{section}.{key}"] = source
    return origins
