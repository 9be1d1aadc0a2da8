"""Results that are damaged, or of other code, are refused with what they lack; no traceback."""

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from runs import run
from scmrepo.exceptions import RevError

from grandplus.pipeline import usage
from grandplus.report import gather
from grandplus.report.read import DETAILS, METRICS, details_of, metrics_of, node_scores_of
from grandplus.runtime.errors import GrandPlusError

RUN = run("one", trials=2)
ANYTHING = st.recursive(st.none() | st.integers() | st.text(), lambda of: st.lists(of) | st.dictionaries(st.text(), of))


def test_what_evaluate_writes_is_read():
    assert details_of(json.dumps(RUN.details), "there") == json.loads(json.dumps(RUN.details))
    assert metrics_of(json.dumps(RUN.metrics), "there") == json.loads(json.dumps(RUN.metrics))


@pytest.mark.parametrize("key", [*DETAILS, *METRICS])
def test_what_is_lacking_is_named(key):
    content = json.loads(json.dumps(RUN.details if key in DETAILS else RUN.metrics))
    *path, last = key.split(".")
    part = content
    for name in path:
        part = part[name]
    del part[last]
    reader = details_of if key in DETAILS else metrics_of
    with pytest.raises(GrandPlusError, match=f"there: lacks {key}; it is damaged, or made by other code"):
        reader(json.dumps(content), "there")


@given(ANYTHING.map(json.dumps) | st.text())
def test_any_other_text_is_refused(text):
    for reader in (details_of, metrics_of):
        with pytest.raises(GrandPlusError, match="there: "):
            reader(text, "there")


def test_scores_of_fewer_trials_than_there_were():
    details = RUN.details | {"accuracy": {"test": [0.9], "val": [0.9, 0.8]}}
    with pytest.raises(GrandPlusError, match="there: has 1 accuracies and 2 splits of 2 trials"):
        details_of(json.dumps(details), "there")


@pytest.mark.parametrize("damaged", [{}, 3, {"nodes": [1]}, RUN.details["node_scores"] | {"correct": ["!", "!"]}])
def test_damaged_scores_of_nodes_are_refused(damaged):
    text = json.dumps(RUN.details | {"node_scores": damaged})
    with pytest.raises(GrandPlusError, match=r"there: has node_scores that can't be read: .*; it is damaged"):
        details_of(text, "there")


def test_scores_of_nodes_of_fewer_trials_or_of_none():
    with pytest.raises(GrandPlusError, match="there: has node_scores of 1 of 2 trials"):
        details_of(json.dumps(RUN.details | {"node_scores": run("one", trials=1).details["node_scores"]}), "there")
    older = {key: value for key, value in RUN.details.items() if key != "node_scores"}
    assert details_of(json.dumps(older), "there") == json.loads(json.dumps(older))
    assert node_scores_of(older) is None


@pytest.mark.parametrize("text", ["{", "[]", '{"train": 3}', ""])
def test_damaged_times_are_refused(tmp_path, text):
    file = tmp_path / "resources.json"
    file.write_text(text)
    with pytest.raises(GrandPlusError, match=r"resources.json: is damaged; expected what stages took; delete it"):
        usage.read(file)


def repo(listing, revisions=None, queue=(), present="base"):
    def resolve(name):
        if name not in (revisions or {}):
            raise RevError(f"unknown Git revision '{name}'")
        return revisions[name]

    experiments = SimpleNamespace(
        ls=lambda all_commits: listing, celery_queue=SimpleNamespace(status=lambda: list(queue))
    )
    scm = SimpleNamespace(resolve_rev=resolve, get_rev=lambda: present)
    return SimpleNamespace(experiments=experiments, scm=scm)


@pytest.mark.parametrize(
    ("name", "found", "other"),
    [
        (
            "workspace",
            repo({"base": [("workspace", "abc")]}),
            "the workspace",
        ),
        (
            "main",
            repo({"base": [("main", "abc")]}, {"main": "def"}),
            "a Git revision",
        ),
    ],
)
def test_a_name_that_says_two_things_is_refused(name, found, other):
    with pytest.raises(
        GrandPlusError, match=f"{name} is the name of an experiment and of {other}; .*; dvc exp rename {name}"
    ):
        gather._check_one_meaning(found, name, gather._experiments(found).get(name, {}))


def test_a_name_of_two_experiments_is_refused_with_both_hashes():
    """``dvc exp rename`` renames the one on the present commit, and refuses where there is none."""
    older, newer = ("0a" * 20, "0b" * 20), ("1a" * 20, "1b" * 20)  # the commit that it is based on, and its own
    found = repo({older[0]: [("gcn", older[1])], newer[0]: [("gcn", newer[1])]}, present=newer[0])
    commits = gather._experiments(found)["gcn"]
    with pytest.raises(GrandPlusError) as refused:
        gather._check_one_meaning(found, "gcn", commits)
    assert str(refused.value) == (
        "gcn is the name of 2 experiments: 0b0b0b0 on commit 0a0a0a0, 1b1b1b1 on the present commit 1a1a1a1; expected "
        "the name of one; name one by its hash, as 0b0b0b0, or dvc exp rename gcn to another name, which renames the "
        "one on the present commit"
    )
    with pytest.raises(GrandPlusError, match=r"; name one by its hash, as 0b0b0b0$"):
        gather._check_one_meaning(repo({}, present="2a" * 20), "gcn", commits)


@pytest.mark.parametrize(
    ("name", "fix"),
    [
        ("gnc", "did you mean gcn? grandplus experiments lists all experiments"),
        ("Ours", "did you mean ours? grandplus experiments lists all experiments"),
        ("nosuch", "grandplus experiments lists all experiments"),
    ],
)
def test_the_nearest_name_of_an_experiment_is_told(name, fix):
    error = gather.DvcException(f"unknown Git revision '{name}'")
    found = gather._unknown(repo({}), name, error, ["gcn", "ours"])
    assert str(found) == f"{name}: unknown Git revision '{name}'; {fix}"


def test_a_name_that_says_one_thing():
    found = repo({"base": [("x", "abc"), ("y", "def")]}, {"main": "123", "abc": "abc"})
    for name in ("x", "main", "workspace"):
        gather._check_one_meaning(found, name, gather._experiments(found).get(name, {}))


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ("Failed", "bad: has failed; see dvc queue logs bad"),
        ("Queued", "bad: has no results: it is queued; grandplus queue runs it"),
        ("Running", "bad: has no results: it is running; wait for its end"),
    ],
)
def test_why_an_experiment_has_no_results(status, words):
    found = repo({}, queue=[{"name": "bad", "rev": "0123456789", "status": status}])
    assert str(gather._unknown(found, "bad", gather.DvcException("unknown"), [])) == words
    assert "a run without a name: unknown" in str(gather._unknown(found, "", gather.DvcException("unknown"), []))
