"""What tests share: real datasets, got through the product's own download."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings as hypothesis_settings

from grandplus.datasets import raw
from grandplus.datasets.fetch.fetch import fetch
from grandplus.datasets.raw import RawGraph
from grandplus.pipeline import settings
from grandplus.runtime.errors import GrandPlusError

# No test times anything, and a first call compiles. Where CI is set, examples are the same in each run.
hypothesis_settings.register_profile("untimed", deadline=None, derandomize=bool(os.environ.get("CI")))
hypothesis_settings.load_profile("untimed")

collect_ignore_glob = ["*conftest.py"]  # their doctests, for which names would have to differ
ROOT = Path(__file__).resolve().parents[1]
LONG = ("stages", "faults", "experiments", "importing")  # folders in which a file takes a minute or more
CATALOG = ROOT / "data" / "catalog"
_MIRROR_BESIDE = ROOT.parent / "shared" / "datasets" / "planetoid"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Long files first, or one of them would be left to a single process at the end."""
    items.sort(key=lambda item: item.path.parent.name not in LONG)  # else as they were


@pytest.fixture(scope="session")
def dataset_folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``dataset_folder("cora", "planetoid")``: its files in that format; skips if no place has them.

    Uses the mirror that GRANDPLUS_MIRROR names, else one beside the checkout, else the card's
    other places, and the user's download cache. Not to be written to.
    """

    @functools.cache
    def folder_of(name: str, file_format: str = "planetoid") -> Path:
        source = settings.read_card(CATALOG / f"{name}.yaml").source
        places = [place for place in source.places if (place.format or source.format) == file_format]
        folder = tmp_path_factory.mktemp(f"{name}-{file_format}")
        with pytest.MonkeyPatch.context() as patch:
            if not os.environ.get("GRANDPLUS_MIRROR") and _MIRROR_BESIDE.is_dir():
                patch.setenv("GRANDPLUS_MIRROR", str(_MIRROR_BESIDE))
            try:
                fetch(source.model_copy(update={"places": places}), folder, catalog=CATALOG)
            except GrandPlusError as error:
                if "no place delivers" not in str(error):
                    raise
                pytest.skip(f"{name} in format {file_format} can't be had: {error}")
        return folder

    return folder_of


@pytest.fixture(scope="session")
def raw_graph(dataset_folder: Callable[..., Path]) -> Callable[..., RawGraph]:
    """``raw_graph("citeseer")``: the dataset as its files have it. Not to be written to."""

    @functools.cache
    def read(name: str, file_format: str = "planetoid") -> RawGraph:
        source = settings.read_card(CATALOG / f"{name}.yaml").source
        return raw.read(dataset_folder(name, file_format), source, CATALOG)

    return read
