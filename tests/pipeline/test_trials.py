"""How many trials are trained side by side, what is done where memory is short, and methods without rows."""

import numpy as np
import pytest
import scipy.sparse as sp

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.pipeline import trials
from grandplus.pipeline.settings import load_settings
from grandplus.pipeline.trials import train_trials
from grandplus.runtime.errors import GrandPlusError


@pytest.mark.parametrize(
    ("kind", "fix"), [(sp.csr_array, "set train.embed to true, or lower"), (np.asarray, "; lower")]
)
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
    each = settings.train.training_memory(4, 4, 2, sparse=False)
    monkeypatch.setenv("GRANDPLUS_MEMORY", str(int(budget * each)))
    asked = []
    monkeypatch.setattr(
        trials.tasks, "map_tasks", lambda task, missing, at_most: asked.append((len(missing), at_most)) or []
    )
    monkeypatch.setenv("GRANDPLUS_DEVICE", "cpu")
    train_trials(tmp_path, tmp_path, tmp_path, settings, live=tmp_path / "live.json")
    assert asked == [(9, at_once)]
