"""How much memory trainings are said to take, and what is done where there is less."""

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.pipeline import trials
from grandplus.pipeline.settings import load_settings
from grandplus.pipeline.trials import BASE, predicted_peak, train_trials
from grandplus.runtime.errors import GrandPlusError


def test_the_prediction_by_hand(train_settings):
    """2 · (4 + 6) copies of batch nodes; 5 copies of parameters; in float32."""
    dense, sparse = np.zeros((9, 100), np.float32), sp.csr_array((9, 100), dtype=np.float32)
    settings = train_settings(hidden=8)
    parameters = 101 * 8 + 9 * 3
    assert predicted_peak(dense, 3, settings) == BASE + 4 * (5 * parameters + 4 * 20 * (100 + 8 + 3))
    assert predicted_peak(sparse, 3, settings) == BASE + 4 * (5 * parameters + 4 * 20 * (8 + 3))
    embedded = 100 * 8 + 9 * 8 + 9 * 3
    settings = train_settings(hidden=8, embed=True)
    assert predicted_peak(sparse, 3, settings) == BASE + 4 * (5 * embedded + 4 * 20 * (8 + 8 + 3))


@pytest.mark.parametrize(("kind", "fix"), [(sp.csr_array, "set train.embed to true, lower"), (np.asarray, "; lower")])
def test_too_little_memory_is_refused_before_the_work(tmp_path, monkeypatch, kind, fix):
    monkeypatch.setenv("GRANDPLUS_MEMORY", "100MiB")
    features = kind(np.eye(4, dtype=np.float32))
    graph = Graph(as_adjacency(sp.eye_array(4)), features, np.zeros(4, np.int64), ["a", "b"], np.arange(4))
    graph.save(tmp_path)
    with pytest.raises(
        GrandPlusError, match=r"training would need 0\.\d\d GiB of memory, and may use 0\.10"
    ) as refused:
        train_trials(
            tmp_path,
            tmp_path,
            tmp_path,
            load_settings(dataset="cora", matrix="ppr", trials=1),
            live=tmp_path / "live.json",
        )
    assert fix in str(refused.value)


@pytest.mark.parametrize(("budget", "at_once"), [(1, 1), (2.5, 2), (7, 7)])
def test_as_many_trials_at_once_as_there_is_room_for(tmp_path, monkeypatch, budget, at_once):
    graph = Graph(as_adjacency(sp.eye_array(4)), np.eye(4, dtype=np.float32), np.zeros(4), ["a", "b"], np.arange(4))
    graph.save(tmp_path)
    settings = load_settings(dataset="cora", matrix="ppr", trials=9)
    each = predicted_peak(graph.features, 2, settings.train)
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(int(budget * each)))
    asked = []
    monkeypatch.setattr(
        trials.execution, "map_processes", lambda task, missing, at_most: asked.append((len(missing), at_most)) or []
    )
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    train_trials(tmp_path, tmp_path, tmp_path, settings, live=tmp_path / "live.json")
    assert asked == [(9, at_once)]
