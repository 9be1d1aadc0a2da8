"""Cases of experiments: their settings, and the key that says whether a finished trial is still one of them."""

import dataclasses
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import scipy.sparse as sp
from processes import wait_for

from grandplus.graph.adjacency import as_adjacency
from grandplus.graph.graph import Graph
from grandplus.pipeline import cases
from grandplus.pipeline.cases import Case, inputs_key
from grandplus.runtime.storage import locked

CASE = Case("cora", "ppr")


def graph_of(edges=((0, 1), (1, 2)), labels=(0, 1, 0)):
    matrix = sp.coo_array((np.ones(len(edges)), np.array(edges).T), shape=(3, 3)).tocsr()
    return Graph(as_adjacency(matrix), np.eye(3, dtype=np.float32), np.array(labels), ["a", "b"], np.arange(3))


def key_of(case, graph=None, trials=10):
    return inputs_key(case.settings(trials), graph or graph_of())


def test_the_key_changes_with_all_that_scores_depend_on():
    different = [
        CASE,
        Case("citeseer", "ppr"),
        Case("cora", "avg"),
        Case("cora", "ppr", (("train.lr", 0.02),)),
        Case("cora", "ppr", (("gfpush.rmax", 1e-3),)),
        Case("cora", "ppr", (("gfpush.alpha", 0.3),)),
        Case("cora", "ppr", (("preprocess.unlabelled", 7),)),
    ]
    assert len({key_of(case) for case in different}) == len(different)
    settings = CASE.settings(10)
    assert inputs_key(settings.model_copy(update={"seed": 1}), graph_of()) != key_of(CASE)
    assert inputs_key(settings.model_copy(update={"model": "another"}), graph_of()) != key_of(CASE)
    assert key_of(CASE, graph_of(edges=((0, 1), (0, 2)))) != key_of(CASE)
    assert key_of(CASE, graph_of(labels=(0, 1, 1))) != key_of(CASE)


def test_the_key_stays_with_more_trials_and_values_that_are_the_same():
    assert key_of(CASE, trials=100) == key_of(CASE)
    own = CASE.settings(1).train.patience
    assert key_of(Case("cora", "ppr", (("train.patience", own),))) == key_of(CASE)


def test_a_setting_that_is_new_and_has_its_default_keeps_the_key():
    settings = CASE.settings(10)

    class Longer(type(settings.train)):
        momentum: float = 0.5

    same = settings.model_copy(update={"train": Longer(**settings.train.model_dump())})
    other = settings.model_copy(update={"train": Longer(**settings.train.model_dump(), momentum=0.6)})
    assert inputs_key(same, graph_of()) == key_of(CASE)
    assert inputs_key(other, graph_of()) != key_of(CASE)


def test_a_graph_is_made_anew_where_the_code_of_one_of_its_stages_changes(monkeypatch):
    monkeypatch.setattr(cases, "_kept", lambda name, key, make: key)
    code = {"download": "a", "preprocess": "b"}
    monkeypatch.setattr(cases, "code_of", lambda stage, settings: code[stage])
    settings = Case("twin-reddit", "avg").settings(1)
    before = cases.graph_folder(settings)
    assert cases.graph_folder(settings) == before
    for stage in code:
        monkeypatch.setitem(code, stage, "new")
        assert cases.graph_folder(settings) != before
        before = cases.graph_folder(settings)


def test_a_process_that_waits_for_what_another_one_makes_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(cases, "STORE", tmp_path)
    monkeypatch.setenv("GRANDPLUS_SCRATCH", str(tmp_path / "scratch"))
    told, lock = [], tmp_path / "graph-key.lock"

    def waits() -> bool:
        told.append(capsys.readouterr().err)
        return f"waiting for another process that holds {lock}" in "".join(told)

    with ThreadPoolExecutor(1) as pool:
        with locked(lock):
            made = pool.submit(cases._kept, "graph", "key", lambda folder: (folder / "made").touch())
            wait_for(waits, "a word of the one that waits")
            assert not made.done()
        assert (made.result() / "made").exists()
    with locked(lock):
        assert cases._kept("graph", "key", pytest.fail) == made.result()  # at once, as it is there
    assert not capsys.readouterr().err


@pytest.mark.parametrize(("changes", "change"), [((), ""), ((("train.lr", 0.1),), "train.lr=0.1")])
def test_a_case_is_named_by_what_changes(changes, change):
    case = Case("cora", "ppr", changes)
    assert case.change == change
    assert dataclasses.replace(case, model="other").change == " ".join(["model=other", change]).strip()
