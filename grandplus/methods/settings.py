"""What the settings of every method have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod

from grandplus.runtime.validation import Section


class MethodSettings(Section, ABC):
    """The settings of a method: every value has a default."""

    @abstractmethod
    def parameters(self, features: int, classes: int) -> int:
        """How many values the trained model has, for features of this width."""

    @abstractmethod
    def training_memory(self, nodes: int, features: int, classes: int, *, sparse: bool) -> int:
        """Bytes that training one model takes at most; files that are memory-mapped are not counted.

        Parameters
        ----------
        nodes : int
            Of the graph.
        features : int
            Width of the feature matrix.
        classes : int
        sparse : bool
            Whether the features are sparse.
        """

    def most_steps(self, labelled: int) -> int | None:
        """After how many steps training ends at the latest; None for a method that takes a fixed number of them.

        Parameters
        ----------
        labelled : int
            The number of training nodes.
        """
        return None

    def patience_steps(self) -> int | None:
        """After how many steps without a gain on validation nodes training ends; None if it goes on without any."""
        return None

    def to_save_memory(self, *, sparse: bool) -> list[str]:
        """What a user can change for training to take less memory, each like "lower train.hidden".

        Parameters
        ----------
        sparse : bool
            Whether the features are sparse.
        """
        return []
