"""How a graph's features are scaled and its nodes are split."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from grandplus.runtime.validation import Count, Section


class Preprocess(Section):
    """What a card says under ``preprocess``."""

    # Scaling of the data's features: rows that sum to 1, columns of mean 0 and deviation 1, or none; or features made
    # from the graph: each node's degree as a number, as a one-hot vector, or its row of the adjacency, which is scaled
    # to sum to 1, or column by column to mean 0 and deviation 1.
    features: Literal[
        "row-normalize", "standardize", "as-is", "degree", "onehot-degree", "adjacency", "standardized-adjacency"
    ]
    # Which edges of a node count, and so where a walk goes from it: all, in both directions; those that start at it; or
    # those that end at it.
    direction: Literal["both", "out", "in"] = "both"
    # The data's own split; or drawn for each trial: a number of nodes from each class, or as many from all classes.
    split: Literal["public", "per-class", "uniform"]
    train_per_class: Count = 20  # labelled nodes a class, for the splits per-class and uniform
    val_per_class: Count = 30  # validation nodes a class, likewise
    shortage: Literal["fail", "shrink"] = "fail"  # where a class has fewer nodes: an error, or fewer are taken
    unlabelled: Literal["all", "test"] | Annotated[int, Field(ge=0)] = "all"  # U': all other nodes, test, or how many
