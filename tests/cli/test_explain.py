"""How an explanation is printed."""

from grandplus.cli.explain import explanation_text
from grandplus.prediction.explain import ClassShare, Explanation, Neighbour


def neighbour(number, value, label="ant"):
    return Neighbour(number, label, number == 2, "bee", 0.75, value, value / 2)


def test_three_tables():
    neighbours = [neighbour(7, 0.5), neighbour(2, 0.25, None)]
    classes = [ClassShare("bee", 0.75, 1.0), ClassShare("ant", 0.25, 0.0)]
    explanation = Explanation(7, "ant", False, "bee", 0.75, True, 0.125, neighbours, classes)
    assert explanation_text(explanation).splitlines() == [
        "node  label  trained on  predicted  confidence  confident  L1 error of its row",
        "7     ant    no          bee        0.7500      yes        0.125000",
        "",
        "neighbour   entry of Π  share  label  trained on  predicted  confidence",
        "7 (itself)  0.5000      25.0%  ant    no          bee        0.7500",
        "2           0.2500      12.5%  -      yes         bee        0.7500",
        "",
        "class  probability  share of the row that is predicted so",
        "bee    0.7500       100.0%",
        "ant    0.2500       0.0%",
    ]


def test_neighbours_beyond_the_tenth_are_summed_up():
    neighbours = [neighbour(number, 0.1) for number in range(13)]
    explanation = Explanation(20, None, False, "bee", 0.75, False, 0.0, neighbours, [ClassShare("bee", 0.75, 1.0)])
    lines = explanation_text(explanation).splitlines()
    assert lines[1].split() == ["20", "-", "no", "bee", "0.7500", "no", "0.000000"]
    assert lines[13].split() == ["9", "0.1000", "5.0%", "ant", "no", "bee", "0.7500"]
    assert lines[14] == "3 others   0.3000      15.0%"
    assert lines[15] == ""
