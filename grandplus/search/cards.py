"""A card with settings that were found, beside that of its dataset."""

from __future__ import annotations

import io

from ruamel.yaml import YAML

from grandplus.pipeline.card import ANY, CATALOG, OWN_METHOD, write_card
from grandplus.pipeline.cases import Case
from grandplus.pipeline.yaml_files import read_yaml


def save_card(name: str, case: Case, comment: str) -> bool:
    """Write a card that has a case's values for its matrix, or its method; those of others stay as they are.

    Parameters
    ----------
    name : str
        Of the card.
    case : Case
        A dataset with changed values.
    comment : str
        The first line of the card.

    Returns
    -------
    bool
        Whether it is staged in git.
    """
    content = read_yaml(CATALOG / f"{case.dataset}.yaml")
    words = f", tuned for {case.matrix if case.model == OWN_METHOD else case.model}"
    content["title"] = content["title"].removesuffix(words) + words
    settings = case.settings(1)
    content["preprocess"] = content["preprocess"] | {"features": settings.preprocess.features}
    defaults = settings.model_copy(
        update={part: type(getattr(settings, part))() for part in ("matrix", "gfpush", "train")}
    )
    if case.model != OWN_METHOD:
        changed = settings.train.model_dump(exclude_defaults=True)
        content["train"] = content.get("train", {}) | {case.model: changed}
    for section in ("gfpush", "train") if case.model == OWN_METHOD else ():
        by_matrix = content.get(section, {})
        others = defaults.flat()[section] | by_matrix.get(ANY, {})  # which the matrix has without values of its own
        own = {key: value for key, value in settings.flat()[section].items() if value != others[key]}
        content[section] = by_matrix | {case.matrix: own}
    yaml = YAML(typ="safe", pure=True)
    yaml.default_flow_style, yaml.width = False, 1000
    yaml.sort_base_mapping_type_on_output = False  # type: ignore[assignment]
    yaml.representer.ignore_aliases = lambda _: True  # each matrix has its own values, to be changed one by one
    text = io.StringIO()
    yaml.dump(content, text)
    return write_card(CATALOG / f"{name}.yaml", f"# {comment}\n{text.getvalue()}")
