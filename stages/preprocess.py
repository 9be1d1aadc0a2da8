"""data/raw -> data/graph: a checked graph in CSR, normalised features, every trial's split."""

from pathlib import Path

from grandplus.datasets.raw import read
from grandplus.errors import GrandPlusError
from grandplus.graph import Graph, build_adjacency, row_normalize
from grandplus.scratch import key_of, scratch
from grandplus.settings import CATALOG, Expect, Settings
from grandplus.splits import make_splits
from stages.common import digest_of, run

RAW, GRAPH = Path("data/raw"), Path("data/graph")


def work(settings: Settings) -> None:
    used = settings.model_dump(include={"seed", "trials", "preprocess", "expect", "source"})
    with scratch("preprocess", key_of(**used, raw=digest_of(RAW)), GRAPH) as folder:
        raw = read(RAW, settings.source, CATALOG)
        adjacency, facts = build_adjacency(raw.edges, raw.nodes)
        facts |= {
            "nodes": raw.nodes,
            "classes": len(raw.classes),
            "features": int(raw.features.shape[1]),
            "unlabelled_nodes": int((raw.labels < 0).sum()),
            "zero_feature_rows": int((abs(raw.features).sum(axis=1) == 0).sum()),
        }
        _check(facts, settings.expect, settings.dataset)
        features = row_normalize(raw.features) if settings.preprocess.features == "row-normalize" else raw.features
        splits = make_splits(raw.labels, settings.preprocess, raw.splits, seed=settings.seed, trials=settings.trials)
        Graph(adjacency, features, raw.labels, raw.classes, raw.node_ids, facts).save(folder)
        splits.save(folder)


def _check(facts: dict[str, int], expect: Expect, dataset: str) -> None:
    for name, wanted in expect.model_dump().items():
        if facts[name] != wanted:
            raise GrandPlusError(
                f"the files of {dataset} hold {facts[name]} {name}",
                where=CATALOG / f"{dataset}.yaml",
                expected=f"{wanted}, as the card says under expect",
                fix="correct the card if the data is right",
            )


if __name__ == "__main__":
    run("preprocess", work)
