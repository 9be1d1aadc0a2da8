"""How a graph's features are scaled and its nodes are split."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grandplus.runtime.validation import Count, Section


class Preprocess(Section):
    features: Literal["row-normalize", "standardize", "as-is", "degree", "onehot-degree", "adjacency"]
    split: Literal["public", "per-class", "uniform"]
    train_per_class: Count  # for per-class and uniform splits
    val_per_class: Count
    shortage: Literal["fail", "shrink"] = "fail"  # where there are fewer labelled nodes than that
    unlabelled: Literal["all", "test"] | Annotated[int, Field(ge=0)]  # U', or its size
