"""The threshold of homophily is chosen on one half of the graphs alone."""

from experiments.homophily.__main__ import graphs, threshold


def row(half, adjusted, low):
    return {"half": half, "adjusted": str(adjusted), "low": str(low)}


CHOSEN = [row("choosing", 0.0, -0.1), row("choosing", 0.1, 0.0), row("choosing", 0.5, 0.02), row("choosing", 0.7, 0.1)]


def test_it_lies_in_the_gap_that_tells_best_where_edges_help():
    assert threshold(CHOSEN) == (0.1, 0.5)
    noisy = [*CHOSEN, row("choosing", 0.6, -0.2)]
    assert threshold(noisy) == (0.1, 0.5)


def test_the_other_half_has_no_part_in_it():
    assert threshold([*CHOSEN, row("shown", 0.3, 0.5), row("shown", 0.9, -0.5)]) == threshold(CHOSEN)


def test_graphs_without_features_of_their_own_have_no_part_in_it():
    chosen = graphs()
    assert {half for half, _ in chosen} == {"choosing", "shown"}
    assert all("features" not in dict(given.say) for _, given in chosen)
