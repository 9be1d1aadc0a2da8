"""params.yaml and a dataset card -> one validated, immutable ``Settings``.

A value that is null (or absent) in ``params.yaml`` is taken from the card, one that the card lacks from the class
of its section. Everything is then checked: unknown keys, wrong types and impossible values are refused with the
key, the value and what is allowed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import Field, SerializeAsAny

from grandplus.datasets.source import Expect, Source
from grandplus.graph.settings import Preprocess
from grandplus.methods.registry import NAMES, check_method, settings_of
from grandplus.methods.settings import MethodSettings
from grandplus.pipeline.card import OWN_METHOD, PARAMS, USUAL_MATRIX, Card, card_file, checked_card, read_card
from grandplus.pipeline.yaml_files import read_yaml, yaml_mapping
from grandplus.prediction.settings import Infer, check_decision
from grandplus.propagation.matrices import MATRICES, Family, parameters
from grandplus.propagation.settings import GFPush
from grandplus.runtime.errors import GrandPlusError
from grandplus.runtime.validation import Name, Section, check_known, did_you_mean, validated

PLAIN = ("dataset", "model", "matrix", "seed", "trials")  # settings that are in no section
SECTIONS = ("synthetic", "preprocess", "gfpush", "train", "infer")
CARD, DEFAULT = "card", "default"  # where a value comes from, beside params.yaml
START = "from"  # of train: the one key there that is no hyperparameter of a method

Values = dict[str, dict[str, Any]]  # by section and key


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
    train: SerializeAsAny[MethodSettings]  # the method's own class
    start: str | None = None  # the run, or the folder of models, whose weights training starts from
    infer: Infer

    @property
    def needs_rows(self) -> bool:
        """Whether the method trains on rows of Π."""
        return settings_of(self.model).NEEDS_ROWS

    def flat(self) -> dict[str, Any]:
        """The values by the keys that a user has for them in params.yaml, sections as nested mappings."""
        matrix = self.matrix.model_dump(by_alias=True, exclude={"name"})
        sections = {key: getattr(self, key).model_dump() for key in SECTIONS}
        plain = {key: getattr(self, key) for key in PLAIN} | {"matrix": self.matrix.name}
        train = sections["train"] | {START: self.start}
        return plain | sections | {"gfpush": matrix | sections["gfpush"], "train": train}


class Resolved(Section):
    """Settings, and where each of their values comes from."""

    settings: Settings
    origins: dict[str, str]  # by key, like "train.lr": params.yaml, card or default
    changed: dict[str, list[Any]]  # what differs from the card, as {"train.lr": [the card's, the run's]}
    replaced: dict[str, str]  # where the first of these comes from, by key

    def changes(self) -> str:
        """What differs from the card, in words: ``train.lr is 0.005 (card: 0.01)``."""
        pairs = self.changed.items()
        return ", ".join(f"{key} is {_text(new)} ({self.replaced[key]}: {_text(old)})" for key, (old, new) in pairs)


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
    return resolve(root, overrides).settings


def resolve(root: Path | str = ".", overrides: Mapping[Any, Any] | None = None) -> Resolved:
    """The same, with the origin of each value; ``overrides`` may have any keys that a user gives."""
    overrides = overrides or {}
    root = Path(root)
    params = read_yaml(root / PARAMS) | dict(overrides)
    named_by = "" if "dataset" in overrides else PARAMS
    return _resolved(params, lambda name: read_card(root / card_file(root, name, named_by)))


def settings_of_card(card: str, dataset: str) -> Settings:
    """What a card alone gives.

    Parameters
    ----------
    card : str
        Its text.
    dataset : str
        Its name.
    """
    params = {"dataset": dataset, "model": OWN_METHOD, "matrix": USUAL_MATRIX, "seed": 0, "trials": 1}
    read = checked_card(yaml_mapping(card, f"{dataset}.yaml"), f"{dataset}.yaml")
    return _resolved(params, lambda _: read).settings


def _resolved(params: dict[str, Any], card_of: Callable[[Any], Card]) -> Resolved:
    _check_plain(params)
    model = params["model"]
    params |= {"matrix": (settings_of(model).Settings.own_rows or params)["matrix"]}
    matrix, card = params["matrix"], card_of(params["dataset"])
    given = {section: _given(params, section, matrix, model) for section in SECTIONS}
    lower = _lower(card, params["dataset"], model, matrix)
    settings = _validated(params, card, {section: lower[section] | given[section] for section in SECTIONS})
    changed, origins = _changed(settings, lower), _origins(settings, lower, card)
    return Resolved(
        settings=settings,
        origins=origins | {f"{section}.{key}": PARAMS for section, values in given.items() for key in values},
        changed=changed,
        replaced={key: origins[key] for key in changed},
    )


def _own_values(model: str, dataset: str) -> Values:
    """What a method brings: values of its training that suit a dataset, and those of rows that are its own."""
    method = settings_of(model)
    fields, published = method.Settings.model_fields, method.PUBLISHED.get(dataset, {})
    of_rows = (method.Settings.own_rows or {}) | {key: published[key] for key in published if key not in fields}
    of_rows.pop("matrix", None)
    return {"gfpush": of_rows, "train": {key: published[key] for key in published if key in fields}}


def _check_plain(params: dict[str, Any]) -> None:
    """The settings that are in no section are there, and name a method and a matrix."""
    check_known(params, {*PLAIN, *SECTIONS}, PARAMS)
    for key in PLAIN:
        if params.get(key) is None:
            raise GrandPlusError(f"{key} is missing", where=PARAMS, fix=f"set {key}")
    check_method(params["model"], where=PARAMS)
    if params["matrix"] not in (known := tuple(MATRICES)):
        expected, fix = f"one of {', '.join(known)}", did_you_mean(params["matrix"], known)
        raise GrandPlusError(f"matrix is {params['matrix']!r}", where=PARAMS, expected=expected, fix=fix)


def _given(params: dict[str, Any], section: str, matrix: str, model: str) -> dict[str, Any]:
    """A section's values in params.yaml that are not null: all of them known, and of effect."""
    own = {} if params.get(section) is None else params[section]
    if not isinstance(own, dict):
        raise GrandPlusError(f"{section} is {own!r}", where=PARAMS, expected="a mapping")
    users = _users(section)
    check_known(own, set(users), PARAMS, f"{section}.")
    given = {key: value for key, value in own.items() if value is not None}
    for key in sorted(given.keys() & _without_effect(section, matrix, model)):
        methods = " or ".join(name for name in NAMES if key not in _without_effect(section, matrix, name))
        found = f"{section}.{key} = {given[key]} has no effect, as model is {model}"
        raise GrandPlusError(found, where=PARAMS, fix=f"set it to null, or model to {methods}")
    kind, chosen = ("model", model) if section == "train" else ("matrix", matrix)
    for key, value in given.items():
        if users[key] and chosen not in users[key]:
            found = f"{section}.{key} = {value} has no effect, as {kind} is {chosen}"
            raise GrandPlusError(found, where=PARAMS, fix=f"set it to null, or {kind} to {' or '.join(users[key])}")
    return given


def _without_effect(section: str, matrix: str, model: str) -> set[str]:
    """The keys of a section that a method makes no use of; of ``train``, each method has keys of its own."""
    method = settings_of(model)
    if section == "preprocess" and not method.Settings.uses_unlabelled:
        return {"unlabelled"}
    if section == "gfpush" and not method.NEEDS_ROWS:
        required = {key for key, needed in parameters(MATRICES[matrix]).items() if needed}  # to be given, used or not
        return _users("gfpush").keys() - required
    return set()


def _users(section: str) -> dict[str, list[str]]:
    """The keys of a section, each with the matrices or methods that use it; with none, if all do."""
    if section == "train":
        return _by_key({name: settings_of(name).Settings.model_fields for name in NAMES}) | {START: []}
    if section == "gfpush":
        of_matrices = _by_key({name: parameters(family) for name, family in MATRICES.items()})
        return of_matrices | {key: [] for key in GFPush.model_fields}
    sections: dict[str, type[Section]] = {"synthetic": Synthetic, "preprocess": Preprocess, "infer": Infer}
    return {key: [] for key in sections[section].model_fields}


def _by_key(keys: Mapping[str, Iterable[str]]) -> dict[str, list[str]]:
    """
    >>> _by_key({"a": ["x"], "b": ["x", "y"]})
    {'x': ['a', 'b'], 'y': ['b']}
    """
    names: dict[str, list[str]] = {}
    for name, own in keys.items():
        for key in own:
            names.setdefault(key, []).append(name)
    return names


def _lower(card: Card, dataset: str, model: str, matrix: str) -> Values:
    """What stands where params.yaml has nothing, but for the defaults."""
    own = _own_values(model, dataset)
    return {
        "synthetic": {},
        "infer": {},
        "preprocess": card.preprocess.model_dump(exclude_unset=True),
        "gfpush": own["gfpush"] or card.overrides("gfpush", matrix),
        "train": card.overrides("train", matrix) if model == OWN_METHOD else own["train"] | card.of_method(model),
    }


def _validated(params: dict[str, Any], card: Card, values: Values) -> Settings:
    matrix = MATRICES[params["matrix"]]
    own = parameters(matrix)
    for key, required in own.items():
        if required and key not in values["gfpush"]:
            found = f"gfpush.{key} is null"
            raise GrandPlusError(found, where=PARAMS, expected=f"a value, as matrix is {params['matrix']}")
    of_matrix = {key: value for key, value in values["gfpush"].items() if key in own}
    of_push = {key: value for key, value in values["gfpush"].items() if key not in own}
    of_method = {key: value for key, value in values["train"].items() if key != START}
    sections = {
        "matrix": validated(matrix, of_matrix, PARAMS, "gfpush."),
        "gfpush": validated(GFPush, of_push, PARAMS, "gfpush."),
        "synthetic": validated(Synthetic, values["synthetic"], PARAMS, "synthetic."),
        "preprocess": validated(Preprocess, values["preprocess"], PARAMS, "preprocess."),
        "train": validated(settings_of(params["model"]).Settings, of_method, PARAMS, "train."),
        "infer": validated(Infer, values["infer"], PARAMS, "infer."),
    }
    plain = {key: params[key] for key in PLAIN} | {"start": _start(values["train"].get(START))}
    settings = validated(Settings, plain | {"expect": card.expect, "source": card.source} | sections, PARAMS)
    if settings.infer.decision == "threshold" and card.expect is not None:
        check_decision(card.expect.classes, where=PARAMS)
    scale = settings.synthetic.scale
    if scale != 1 and settings.source.synthetic is None:
        found = f"synthetic.scale = {scale:g} has no effect, as {settings.dataset} is not synthetic"
        raise GrandPlusError(found, where=PARAMS, fix="set it to 1")
    return settings


def _start(name: Any) -> str | None:
    if name is not None and not isinstance(name, str):
        expected = "the name of a run, or a folder of models, as text"
        raise GrandPlusError(f"train.{START} is {name!r}", where=PARAMS, expected=expected)
    return name


def _origins(settings: Settings, lower: Values, card: Card) -> dict[str, str]:
    """Where values come from, if params.yaml has none of its sections'."""
    origins, model = dict.fromkeys(PLAIN, PARAMS), settings.model
    if settings.train.own_rows:
        origins["matrix"] = f"{model}'s own"
    own = _own_values(model, settings.dataset)
    for section, values in settings.flat().items():
        for key in values if section in SECTIONS else ():
            origin = CARD if key in lower[section] else DEFAULT
            if key in own.get(section, {}) and not (section == "train" and key in card.of_method(model)):
                origin = f"{model}'s own"
            origins[f"{section}.{key}"] = origin
    return origins


def _changed(settings: Settings, lower: Values) -> dict[str, list[Any]]:
    fields = {section: dict(type(getattr(settings, section)).model_fields) for section in SECTIONS}
    fields["gfpush"] |= type(settings.matrix).model_fields
    changed = {}
    for section in SECTIONS:
        for key, value in settings.flat()[section].items():
            field = fields[section].get(key)
            default = None if field is None or field.is_required() else field.default
            before = lower[section].get(key, default)
            if before != value:
                changed[f"{section}.{key}"] = [before, value]
    return changed


def _text(value: Any) -> str:
    return "not set" if value is None else str(value).lower() if isinstance(value, bool) else str(value)
