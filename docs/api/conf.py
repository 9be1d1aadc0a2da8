"""Sphinx makes the API reference from docstrings: make docs."""

import grandplus

project = "GRAND+"
copyright = "the GRAND+ developers"
version = release = grandplus.__version__
extensions = ["sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.mathjax", "numpydoc"]
templates_path = ["_templates"]
default_role = "py:obj"  # a name between single backticks is a link, where there is such a page
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "exclude-members": "model_config, model_post_init",  # pydantic's
}
autodoc_inherit_docstrings = False
autodoc_typehints = "none"  # types and shapes stand in the docstrings
autosummary_ignore_module_all = False
numpydoc_show_class_members = False
html_theme = "alabaster"
html_theme_options = {"description": "Semi-supervised node classification on graphs of any size", "fixed_sidebar": True}
html_show_sourcelink = False


def setup(app):
    """Leave out what scikit-learn adds to every estimator for its metadata routing."""
    app.connect(
        "autodoc-skip-member",
        lambda app, what, name, member, skip, options: skip or (name.startswith("set_") and name.endswith("_request")),
    )
