"""Names of classes in any script are drawn, or numbered, without a warning of matplotlib."""

from __future__ import annotations

import pytest
from fontTools.fontBuilder import FontBuilder
from fontTools.pens.ttGlyphPen import TTGlyphPen
from matplotlib import font_manager, ft2font
from test_plots import PREDICTIONS, write

from grandplus.evaluation import fonts
from grandplus.evaluation.fonts import drawn_names

NAMES = {
    "Latin and Cyrillic": ["é", "Жук"],
    "Chinese": ["动物", "植物"],
    "Arabic": ["حيوان", "نبات"],
    "Hebrew": ["חיה", "צמח"],
    "Devanagari": ["पशु", "पौधा"],
    "emoji": ["🐈", "👩‍🌾"],
    "marks": ["a\tb\nc", "\u200b$x^2$"],
}


@pytest.fixture
def no_cache():
    """As the machine has other fonts than the tests before and after."""
    for cached in (fonts._files, fonts._characters):
        cached.cache_clear()
    yield
    for cached in (fonts._files, fonts._characters):
        cached.cache_clear()


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("script", NAMES)
def test_no_glyph_is_missing(tmp_path, script):
    write(tmp_path, predictions=PREDICTIONS, classes=NAMES[script])


def test_fonts_that_come_with_matplotlib(no_cache, monkeypatch):
    usual = [entry for entry in font_manager.fontManager.ttflist if entry.name.startswith(("DejaVu", "Last Resort"))]
    monkeypatch.setattr(font_manager.fontManager, "ttflist", usual)
    assert drawn_names(NAMES["Latin and Cyrillic"]) == (NAMES["Latin and Cyrillic"], [fonts.USUAL], False)
    for script in ("Chinese", "Devanagari"):
        assert drawn_names(["a", *NAMES[script]]) == (["a", "class 1", "class 2"], [fonts.USUAL], True)


def test_a_font_of_the_machine_that_has_the_letters(no_cache, tmp_path, monkeypatch):
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder([".notdef", "one"])
    font.setupCharacterMap({ord("动"): "one", ord("物"): "one"})
    pen = TTGlyphPen(None)
    pen.moveTo((0, 0)), pen.lineTo((500, 0)), pen.lineTo((250, 700)), pen.closePath()
    font.setupGlyf({".notdef": pen.glyph(), "one": pen.glyph()})
    font.setupHorizontalMetrics({".notdef": (600, 0), "one": (600, 0)})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Two Letters", "styleName": "Regular"})
    font.setupOS2()
    font.setupPost()
    font.save(tmp_path / "two.ttf")
    monkeypatch.setattr(font_manager.fontManager, "ttflist", [*font_manager.fontManager.ttflist])
    font_manager.fontManager.addfont(tmp_path / "two.ttf")
    labels, families, numbered = drawn_names(["动物", "a", "动植物"])
    assert labels == ["动物", "a", "class 2"]
    assert families == [fonts.USUAL, "Two Letters"]
    assert numbered


def test_scripts_whose_letters_join_need_a_matplotlib_that_joins_them(monkeypatch):
    monkeypatch.delattr(ft2font, "__libraqm_version__", raising=False)
    assert drawn_names(["a", *NAMES["Arabic"]])[0] == ["a", "class 1", "class 2"]
