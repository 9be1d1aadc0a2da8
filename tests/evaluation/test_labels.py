"""Labels of axes: no share is written as another one, and names stay apart."""

from hypothesis import given
from hypothesis import strategies as st

from grandplus.evaluation.labels import MAX_WIDTH, share_labels, short_names, width_of


@given(st.lists(st.integers(0, 4000), min_size=1).map(lambda steps: [step / 4000 for step in steps]))
def test_a_label_says_exactly_its_share(shares):
    labels = share_labels(shares)
    assert [round(float(label.rstrip("%")) / 100, 9) for label in labels] == [round(share, 9) for share in shares]
    assert len({len(label.partition(".")[2]) for label in labels}) == 1
    assert "." not in labels[0] or not all(label.endswith("0%") for label in labels)


@given(st.lists(st.text(), min_size=1, unique=True))
def test_short_names_fit_and_differ(names):
    short = short_names(names)
    assert len(set(short)) == len(names)
    for name, text in zip(names, short, strict=True):
        assert text == name or width_of(text) <= MAX_WIDTH + len(f" {len(names)}")


def test_names_that_are_alike_within_keep_their_ends():
    assert short_names(["x" * 40 + "a", "x" * 40 + "b"]) == [
        "x" * 14 + "…" + "x" * 6 + "a",
        "x" * 14 + "…" + "x" * 6 + "b",
    ]


def test_names_that_would_become_equal_get_their_numbers():
    names = ["x" * 20 + "1" + "x" * 20, "y", "x" * 20 + "2" + "x" * 20]
    assert short_names(names) == ["x" * 14 + "…" + "x" * 7 + " 0", "y", "x" * 14 + "…" + "x" * 7 + " 2"]


def test_wide_letters_count_twice():
    assert short_names(["漢" * 11, "漢" * 12]) == ["漢" * 11, "漢" * 7 + "…" + "漢" * 3]
