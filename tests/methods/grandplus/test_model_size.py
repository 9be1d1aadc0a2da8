"""What the settings say about the size of a model."""

import pytest

from grandplus.methods.grandplus.mlp import MLP
from grandplus.methods.settings import BASE, GraphSize


def test_the_memory_of_training_by_hand(train_settings):
    """2 · (4 + 6) copies of batch nodes; 5 copies of parameters; in float32."""
    settings = train_settings(hidden=8)
    parameters = 101 * 8 + 9 * 3
    assert settings.training_memory(GraphSize(9, 0, 100, 3, 900)) == BASE + 4 * (
        5 * parameters + 4 * 20 * (100 + 8 + 3)
    )
    assert settings.training_memory(GraphSize(9, 0, 100, 3, 90)) == BASE + 4 * (5 * parameters + 4 * 20 * (8 + 3))
    embedded = 100 * 8 + 9 * 8 + 9 * 3
    settings = train_settings(hidden=8, embed=True)
    assert settings.training_memory(GraphSize(9, 0, 100, 3, 90)) == BASE + 4 * (5 * embedded + 4 * 20 * (8 + 8 + 3))


@pytest.mark.parametrize("changes", [{}, {"layers": 1}, {"layers": 3, "hidden": 70}, {"embed": True}])
def test_parameters_are_those_of_the_mlp(train_settings, changes):
    settings = train_settings(**changes)
    mlp = MLP(20, 3, settings)
    assert settings.parameters(20, 3) == sum(tensor.numel() for tensor in mlp.state_dict().values())
