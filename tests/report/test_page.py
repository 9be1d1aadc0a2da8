"""The report's page: what stands in it, and how it looks to a browser."""

import dataclasses
import re
from itertools import pairwise

import pytest
from browser import look_at
from runs import run

from grandplus.evaluation.diagnosis.finding import Finding
from grandplus.methods.registry import settings_of
from grandplus.report import charts
from grandplus.report.comparison import compare
from grandplus.report.page import page

COUNT = "document.querySelectorAll('{}').length".format


@pytest.fixture(scope="module")
def runs():
    """Two that can be compared trial by trial, one of other splits, and one whose names are out to do harm."""
    odd = run("<script>alert(1)</script>", trials=1, skill=0.8)
    odd.details["classes"][0] = "<img src=x onerror=alert(2)>"
    return [
        run("plain", trials=10),
        run("better", trials=10, skill=0.95, train={"lr": 0.05}),
        run("other", seed=1),
        odd,
    ]


@pytest.fixture(scope="module")
def html(runs):
    return page(runs, compare([of.accuracy for of in runs], [of.pairs for of in runs]))


def shown(html, tmp_path, *expressions, **view):
    file = tmp_path / "report.html"
    file.write_text(html, encoding="utf-8")
    return look_at(file, tmp_path / "browser", *expressions, **view)


# Ratios of contrast as WCAG 2 defines them, of everything on the page whose ratio is below what is asked for.
FAINT = """(() => {
    const parsed = text => { const n = text.match(/[\\d.]+/g).map(Number); return n.length < 4 ? [...n, 1] : n; };
    const over = (front, back) => back.map((value, i) => front[3] * front[i] + (1 - front[3]) * value);
    const linear = value => (value /= 255) <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
    const light = ([r, g, b]) => 0.2126 * linear(r) + 0.7152 * linear(g) + 0.0722 * linear(b);
    const ratio = (a, b) => {
        const [low, high] = [light(a), light(b)].sort((x, y) => x - y);
        return (high + 0.05) / (low + 0.05);
    };
    const behind = element => {
        if (!element) return [255, 255, 255];
        const own = parsed(getComputedStyle(element).backgroundColor);
        return own[3] === 1 ? own.slice(0, 3) : over(own, behind(element.parentElement));
    };
    const faint = [];
    const check = (element, colour, back, least) => {
        const visible = +getComputedStyle(element).opacity;
        const found = ratio(over([...parsed(colour).slice(0, 3), parsed(colour)[3] * visible], back), back);
        if (found < least) faint.push(`${element.outerHTML.slice(0, 80)}: ${found.toFixed(2)}`);
    };
    for (const text of document.querySelectorAll('svg text')) {
        const heat = text.getAttribute('class').match(/on(\\d+)/), card = behind(text.closest('svg'));
        const cell = heat && text.closest('svg').querySelector(`.heat${heat[1]}`);
        const back = cell ? over(parsed(getComputedStyle(cell).fill), card) : card;
        check(text, getComputedStyle(text).fill, back, 4.5);
    }
    for (const element of document.querySelectorAll('body, body *:not(svg *)'))
        if ([...element.childNodes].some(node => node.nodeType === 3 && node.data.trim()))
            check(element, getComputedStyle(element).color, behind(element), 4.5);
    for (const mark of document.querySelectorAll('circle:not(.point), polyline, rect.interval')) {
        const style = getComputedStyle(mark), back = behind(mark.closest('svg'));
        const line = mark.matches('polyline, rect.interval, .hollow');
        check(mark, line ? style.stroke : style.fill, back, 3);
    }
    for (const swatch of document.querySelectorAll('.swatch'))
        check(swatch, getComputedStyle(swatch).borderColor, behind(swatch.parentElement), 3);
    return faint;
})()"""


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_marks_stand_out(html, tmp_path, dark):
    coloured = page([run(f"run {number}", trials=2, skill=0.1 * number) for number in range(1, 10)], [])
    for number, some in enumerate((html, coloured)):
        folder = tmp_path / str(number)
        folder.mkdir()
        assert shown(some, folder, FAINT, dark=dark).values[FAINT] == []


def test_faint_text_would_be_found(tmp_path):
    bad = "<body style='background: #fff'><p style='color: #aaa'>faint</p><p style='color: #555'>strong</p>"
    [line] = shown(bad, tmp_path, FAINT).values[FAINT]
    assert line.endswith(": 2.32")


@pytest.mark.parametrize("width", [400, 1200])
def test_what_is_cut_off_has_a_hint(html, tmp_path, width):
    cut = """[...document.querySelectorAll('body *:not(svg *)')].filter(
        element => element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === 'auto'
            && !(getComputedStyle(element.querySelector('.hint') ?? element).display === 'block'
                || (window.innerWidth > 760 && element.matches('.scroll')))
    ).map(element => element.outerHTML.slice(0, 80))"""
    wide = "document.documentElement.scrollWidth <= window.innerWidth"
    seen = shown(html, tmp_path, cut, wide, width=width)
    assert seen.values == {cut: [], wide: True}


def test_a_browser_finds_all_marks_and_nothing_to_complain_about(runs, html, tmp_path):
    wanted = {"#accuracies circle.trial": 10 + 10 + 5 + 1, "#differences circle.difference": 3, "section.run": 4}
    wanted |= {
        "#beside .losses polyline.curve": 2 * 4,
        "#beside .losses circle.end": 4,
        "#beside .degree circle.group": sum(len(of.details["by_degree"]) for of in runs),
    }
    for number, of in enumerate(runs):
        section = f"section.run:nth-of-type({number + 5}) "
        wanted |= {
            section + ".trials circle.trial.test": len(of.accuracy),
            section + ".trials circle.trial.val": len(of.accuracy),
            section + ".losses circle.point": 5,
            section + ".losses polyline.curve": 2,
            section + ".confusion rect.cell": 9,
            section + ".reliability circle.bin.before": len(of.details["reliability"]["before"]["bin"]),
            section + ".reliability circle.bin.after": len(of.details["reliability"]["after"]["bin"]),
            section + ".degree circle.group": len(of.details["by_degree"]),
            section + ".l1 circle.group": len(of.details["by_l1_error"]),
            section + ".resources tr": 8,
            section + ".baselines tr": 3,
        }
    narrow = "document.documentElement.scrollWidth <= window.innerWidth"
    seen = shown(html, tmp_path, narrow, *map(COUNT, wanted))
    assert seen.console == []
    assert seen.requests == []
    assert {selector: seen.values[COUNT(selector)] for selector in wanted} == wanted
    assert seen.values[narrow]


def test_marks_lie_within_their_charts(html, tmp_path):
    outside = """[...document.querySelectorAll('svg .mark')].filter(mark => {
        const a = mark.getBoundingClientRect(), b = mark.closest('svg').getBoundingClientRect();
        return a.left < b.left - 1 || a.right > b.right + 1 || a.top < b.top - 1 || a.bottom > b.bottom + 1;
    }).length"""
    assert shown(html, tmp_path, outside).values[outside] == 0


def test_the_browser_would_have_told(tmp_path):
    """What the tests above rest on: errors, requests and marks that are there are seen."""
    bad = "<script>nothing.here()</script><img src='https://nowhere.invalid/a.png'>"
    seen = shown(bad, tmp_path, COUNT("img"))
    assert len(seen.console) == 2
    assert seen.requests == ["https://nowhere.invalid/a.png"]
    assert seen.values == {COUNT("img"): 1}


def test_nothing_is_fetched_and_no_name_is_markup(html):
    assert not re.search(r"https?:|//[a-z]|@import|<script|<img|<link(?! rel=\"icon\" href=\"data:,\")", html)
    assert "&lt;script&gt;alert(1)" in html


def test_the_same_runs_give_the_same_bytes(runs, html):
    assert page(runs, compare([of.accuracy for of in runs], [of.pairs for of in runs])) == html


def words(html):
    return re.sub(r"<[^>]+>|\s+", " ", html)


def test_what_is_said_of_runs(runs, html):
    assert "4 runs compared" in words(html)
    assert "better is better than plain" in words(html)
    assert "<code>train.lr=0.05</code>" in html
    assert re.search(r"train +12\.5 +512", words(html))
    equal = compare([[0.5, 0.6]] * 2, [[1, 2]] * 2)
    assert "no evidence of a difference" in words(page(runs[:2], equal))


def test_runs_with_the_same_classes_are_beside_one_another_by_class(runs, html, tmp_path):
    assert "Each class" not in html  # the last run's classes are named otherwise
    same = page(runs[:3], [])
    assert len(re.findall('<circle class="mark recall run[012]"', same)) == 3 * 3
    confusion = runs[1].details["confusion"]
    assert f"better, class 2: {confusion[2][2] / sum(confusion[2]):.2%}".replace("%", " %") in same


def test_a_run_alone_is_compared_with_none(runs):
    alone = page(runs[:1], [])
    assert "Is a difference real?" not in alone
    assert "<h1>cora, grandplus, ppr</h1>" in alone


def test_more_runs_than_colours_have_hollow_marks():
    nine = page([run(f"run {number}", trials=2) for number in range(9)], [])
    assert len(re.findall(r'<span class="swatch run0 hollow">', nine)) == 4  # table, diagnosis, key, head
    assert len(re.findall(r'<circle class="mark trial run0 hollow"', nine)) == 2


def test_what_could_not_be_compared_is_said():
    one = [run("a", trials=1), run("b", trials=1, skill=0.9)]
    said = page(one, [], ["one trial says nothing <here>"])
    assert "<p>One trial says nothing &lt;here&gt;.</p>" in said


def test_findings_are_said(runs):
    finding = Finding("underfit", "47.50 % of <nodes> are right", "train.weight_decay=0.0001")
    plain, other = (dataclasses.replace(runs[0], findings=findings) for findings in ([finding], []))
    assert "<b>47.50 % of &lt;nodes&gt; are right.</b> Try train.weight_decay=0.0001." in page([plain], [])
    assert "Nothing to remark." in words(page([other], []))
    assert "This run has no diagnosis: it was made by older code." in words(page([runs[0]], []))


def test_axes_of_shares_end_at_one():
    sure = [run("sure", trials=3, skill=1.0), run("surer", trials=2, skill=1.0)]
    assert not re.search(r">10[0-9]\.[1-9]%|>10[1-9]", page(sure, []))
    assert not re.search(r'tick middle"[^>]*>\d+\.5<', page(sure, []))


def test_classes_have_their_names_on_both_axes():
    long = run("long", trials=2)
    long.details["classes"] = ["Neural_Networks_of_many_layers", "Neural_Networks_recurrent", "salt & pepper"]
    confusion = str(charts.confusion(long))
    for name in ("Neural_Network…_layers", "Neural_Network…current", "salt &amp; pepper"):
        assert re.findall(f'<text class="tick (end|below)"[^>]*>{name}</text>', confusion) == ["end", "below"]
    assert "<title>Neural_Networks_of_many_layers predicted as Neural_Networks_recurrent: " in confusion
    assert re.findall(r'class="title middle"[^>]*>([^<]+)<', confusion) == ["predicted class", "actual class"]


def test_trials_are_points_alone(runs):
    assert "polyline" not in str(charts.trials(runs[0]))


def test_ticks_have_the_decimals_that_they_need(runs):
    for of in runs:
        for chart in (charts.trials(of), charts.by_degree(of), charts.by_l1_error(of)):
            shares = re.findall(r'<text class="tick end" x="[^"]+" y="([^"]+)">([\d.]+)%', str(chart))
            places, values = zip(*((float(place), float(value)) for place, value in shares), strict=True)
            slopes = {round((b - a) / (y - x), 2) for (x, a), (y, b) in pairwise(zip(places, values, strict=True))}
            assert len(slopes) == 1  # as written, they lie on a line


def test_terms_are_explained(runs):
    said = words(page(runs[:1], []))
    for words_of in ("ECE, the expected calibration error, is", "L1 error of a row of Π is", "U′ are the nodes"):
        assert words_of in said


def test_many_classes_and_no_rows_of_test_nodes():
    split = {"split": "per-class", "train_per_class": 1, "val_per_class": 1, "unlabelled": 0}
    many = page([run("many", trials=1, classes=20, preprocess=split)], [])
    assert "No test node has a row" in many
    assert len(re.findall(r'class="mark cell', many)) == 400
    assert "<li>class 19</li>" in many


def test_a_method_without_rows_has_no_chart_of_their_errors(runs, monkeypatch):
    monkeypatch.setattr(settings_of("grandplus"), "NEEDS_ROWS", False)
    without = run("plain")
    assert "by_l1_error" not in without.details
    html = page([without], [])
    assert "L1 error" not in words(html).replace("row L1 error, mean", "")
    assert "<h1>cora, grandplus</h1>" in html
    assert "Accuracy by row L1 error" in page(runs[:1], [])
