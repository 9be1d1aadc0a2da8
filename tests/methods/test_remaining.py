"""The time that is left of training, for trials whose length and pace are known."""

import pytest

from grandplus.methods import remaining
from grandplus.methods.remaining import Course, Estimate


def course(step: int, gained: int = 0, *, pace: float = 0.1, ended: bool = False) -> Course:
    return Course(step=step, gained=gained, seconds=step * pace, ended=ended)


@pytest.mark.parametrize(
    ("trials", "courses", "text"),
    [
        # 2 of 2 run: the longer one decides.
        (2, [course(100), course(300, 280)], "00:48 left if validation improves no more, at most 06:30"),
        # 2 of 6 run side by side: 400 + 480 steps, and four of the mean of 500 and 780 steps.
        (6, [course(100), course(300, 280)], "02:52 left if validation improves no more, at most 19:40"),
        # One has ended after 700 steps: the other one and three more are taken to be as long, or as patience says.
        (2, [course(700, ended=True), course(300, 280)], "about 00:48 left"),
        (2, [course(900, ended=True), course(300, 280)], "about 01:00 left"),
        (3, [course(700, ended=True), course(900, ended=True)], "about 01:20 left"),
        # Nobody knows yet, or all is done.
        (2, [], ""),
        (2, [course(0)], ""),
        (2, [course(700, ended=True), course(900, ended=True)], "about 00:00 left"),
    ],
)
def test_a_run_whose_trials_are_known(trials, courses, text):
    assert Estimate(trials, most=4000, patience=500).text(courses) == text


def test_earlier_trials_say_how_long_one_is():
    estimate = Estimate(2, most=4000, patience=500, earlier=[1000, 2000])
    assert estimate.text([course(500, 400), course(1000, 1200)]) == "about 01:40 left"


def test_no_trial_is_longer_than_it_may_be():
    assert Estimate(1, most=600, patience=500).text([course(500, 500)]) == (
        "00:10 left if validation improves no more, at most 00:10"
    )
    assert Estimate(1, most=600, patience=500, earlier=[5000]).text([course(500, 500)]) == "about 00:10 left"


def test_a_method_without_patience_is_told_by_its_epochs_and_by_trials_that_have_ended():
    estimate = Estimate(3, most=200, patience=None)
    assert estimate.text([course(50)]) == "at most 00:55 left"
    assert estimate.text([course(100, ended=True), course(50)]) == "about 00:15 left"


def test_a_trial_gains_by_reaching_the_highest_accuracy_or_the_lowest_loss(monkeypatch):
    times = iter([5.0, 6.0, 7.5, 8.0, 9.0])
    monkeypatch.setattr(remaining.time, "monotonic", lambda: next(times))
    course, gained = Course(), []
    for step, accuracy, loss in [(0, 0.5, 1.0), (10, 0.5, 1.0), (20, 0.6, 2.0), (30, 0.6, 0.9), (40, 0.4, 0.95)]:
        course.note({"step": float(step), "val_accuracy": accuracy, "val_loss": loss})
        gained.append(course.gained)
    assert gained == [0, 10, 20, 30, 30]
    assert (course.step, course.seconds) == (40, 4.0)
