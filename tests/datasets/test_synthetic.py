"""Graphs that are made: their sizes, mixing, degrees and features, and that the bytes follow from the settings."""

import hashlib

import numpy as np
import pytest

from grandplus.datasets import synthetic
from grandplus.datasets.formats import synthetic as synthetic_files
from grandplus.datasets.source import Recipe, Source
from grandplus.datasets.synthetic import generate
from grandplus.runtime.errors import GrandPlusError

DENSE = Recipe(nodes=40_000, edges=400_000, classes=6, features=11, homophily=0.7)
SPARSE = Recipe(nodes=20_000, edges=60_000, classes=3, features=5_000, stored=20, homophily=0.6, seed=5)


def made(recipe, folder, scale=1.0):
    files = generate(recipe, scale, folder)
    return synthetic_files.read(folder, files, Source(format="synthetic", synthetic=recipe))


def digests(folder):
    return {file.name: hashlib.sha256(file.read_bytes()).hexdigest() for file in folder.iterdir()}


@pytest.fixture(scope="module")
def dense(tmp_path_factory):
    return made(DENSE, tmp_path_factory.mktemp("dense"))


@pytest.fixture(scope="module")
def sparse(tmp_path_factory):
    return made(SPARSE, tmp_path_factory.mktemp("sparse"))


def test_sizes_and_types_are_those_asked_for(dense, sparse):
    assert (dense.nodes, dense.edges.shape, dense.features.shape) == (40_000, (2, 400_000), (40_000, 11))
    assert (sparse.nodes, sparse.edges.shape, sparse.features.shape) == (20_000, (2, 60_000), (20_000, 5_000))
    assert (dense.edges.dtype, dense.features.dtype, sparse.features.data.dtype) == (np.int32, np.float32, np.float32)
    assert (dense.edges.min(), dense.edges.max()) >= (0, 0)
    assert dense.edges.max() < 40_000


def test_edges_stay_in_their_class_as_often_as_asked(dense, sparse):
    for graph, recipe in ((dense, DENSE), (sparse, SPARSE)):
        share = (graph.labels[graph.edges[0]] == graph.labels[graph.edges[1]]).mean()
        assert share == pytest.approx(recipe.homophily, abs=0.01)


def test_the_largest_class_has_a_fifth_more_nodes_than_the_smallest(dense):
    sizes = np.bincount(dense.labels)
    assert sizes.max() / sizes.min() == pytest.approx(1.2, abs=0.01)
    assert dense.classes == ["0", "1", "2", "3", "4", "5"]


def test_degrees_have_a_power_law_that_node_numbers_tell_nothing_of(dense):
    degrees = np.bincount(dense.edges.ravel(), minlength=dense.nodes)
    assert degrees.mean() == 20
    assert np.median(degrees) < 0.7 * 20
    # The share of nodes above x falls as x^-1.5: a factor of 4 in x is one of 8 in nodes.
    above = [(degrees > x).mean() for x in (40, 160)]
    assert above[0] / above[1] == pytest.approx(8, rel=0.15)
    assert 100 * 20 < degrees.max() < 500 * 20
    assert abs(np.corrcoef(np.arange(dense.nodes), degrees)[0, 1]) < 0.03
    assert abs(np.corrcoef(dense.labels, degrees)[0, 1]) < 0.03


def test_dense_features_are_normal_around_a_mean_of_length_one(dense):
    for label in range(6):
        mine = dense.features[dense.labels == label].astype(np.float64)
        centre = mine.mean(axis=0)
        assert np.linalg.norm(centre) == pytest.approx(1, abs=0.05)
        assert np.cov(mine.T) == pytest.approx(np.eye(11), abs=0.08)


def test_sparse_features_are_different_words_of_which_few_are_the_classs_own(sparse):
    columns = sparse.features.indices.reshape(-1, 20)
    assert np.all(np.diff(columns) > 0)
    assert columns.min() >= 0
    assert columns.max() < 5_000
    counts = [np.bincount(columns[sparse.labels == label].ravel(), minlength=5_000) for label in range(3)]
    shares = np.array([count / count.sum() for count in counts])
    overlap = np.minimum(shares[0], shares[1]).sum()
    assert 0.85 < overlap < 0.97  # two words of twenty are drawn from the class's own, at most


@pytest.mark.parametrize("recipe", [DENSE, SPARSE])
def test_the_same_bytes_however_much_is_made_at_a_time(recipe, tmp_path, monkeypatch):
    found = []
    for number, (piece, workers) in enumerate([(2**20, "1"), (7_001, "3")]):
        monkeypatch.setattr(synthetic, "PIECE", piece)
        monkeypatch.setenv("GRANDPLUS_WORKERS", workers)
        (tmp_path / str(number)).mkdir()
        generate(recipe, 0.25, tmp_path / str(number))
        found.append(digests(tmp_path / str(number)))
    assert found[0] == found[1]


def test_another_seed_gives_another_graph(tmp_path):
    folders = [tmp_path / "a", tmp_path / "b"]
    for seed, folder in enumerate(folders):
        folder.mkdir()
        generate(SPARSE.model_copy(update={"seed": seed}), 0.1, folder)
    a, b = map(digests, folders)
    assert {name for name in a if a[name] == b[name]} == {"features.data.npy", "features.indptr.npy"}


def test_scale_multiplies_nodes_and_edges(tmp_path):
    graph = made(DENSE, tmp_path, 0.1)
    assert (graph.nodes, graph.edges.shape[1], graph.features.shape[1]) == (4_000, 40_000, 11)


def test_a_scale_that_leaves_too_few_nodes_is_refused(tmp_path):
    with pytest.raises(GrandPlusError, match=r"synthetic.scale = 0.0001 leaves 4 nodes for 6 classes; raise synth"):
        generate(DENSE, 0.0001, tmp_path)


def test_finished_files_are_kept_and_a_damaged_one_is_named(tmp_path):
    files = generate(SPARSE, 0.01, tmp_path)
    whole = digests(tmp_path)
    (tmp_path / "edges.npy").unlink()
    times = {name: (tmp_path / name).stat().st_mtime_ns for name in files if name != "edges.npy"}
    generate(SPARSE, 0.01, tmp_path)
    assert digests(tmp_path) == whole
    assert times == {name: (tmp_path / name).stat().st_mtime_ns for name in times}
    (tmp_path / "labels.npy").write_bytes((tmp_path / "labels.npy").read_bytes()[:300])
    with pytest.raises(GrandPlusError, match=r"labels.npy: is no readable array"):
        synthetic_files.read(tmp_path, files, Source(format="synthetic", synthetic=SPARSE))
