"""Settings of the site, which `make site` builds (tools/docsite.py)."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

project = "Thalweg"
release = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]["package"]["version"]
version = release
language = "en"

extensions = ["myst_nb", "sphinx.ext.autodoc"]
root_doc = "index"
source_suffix = {".md": "myst-nb", ".ipynb": "myst-nb"}

# notebooks keep the outputs that their tests have compared
nb_execution_mode = "off"
nb_merge_streams = True
# anchors of headings as on GitHub
myst_heading_anchors = 4

autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_class_signature = "mixed"
# `name` in a docstring is code
default_role = "literal"
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 90
# the type `bytes` in a signature is the type of Python, although classes of schemes have attributes of this name
suppress_warnings = ["ref.python"]

html_theme = "furo"
html_title = "Thalweg"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_js_files = ["sort.js", "access.js"]
html_extra_path = [str(ROOT / "target" / "site" / "extra")]
html_show_sourcelink = False
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    "light_css_variables": {"color-brand-primary": "#0f6c7a", "color-brand-content": "#0f6c7a"},
    "dark_css_variables": {"color-brand-primary": "#63c3c9", "color-brand-content": "#63c3c9"},
}
pygments_style = "a11y-high-contrast-light"
pygments_dark_style = "a11y-high-contrast-dark"


def escape_names(app, what, name, obj, options, lines):
    """Names that end with an underscore, such as variables of ns-2, are code and no references."""
    del app, what, name, obj, options
    lines[:] = [re.sub(r"(?<![\w`])(\w+_)(?=[\s.,;:)]|$)", r"``\1``", line) for line in lines]


def complete_markup(app, pagename, templatename, context, doctree):
    """What accessible pages need beyond Sphinx's markup: levels of headings in the contents, no heads without words."""
    del app, pagename, templatename, doctree
    for part in ("furo_navigation_tree", "body"):
        if part in context:
            text = context[part].replace('role="heading">', 'role="heading" aria-level="2">')
            # outputs of notebooks, below the title of the page
            text = re.sub(r'(<p class="kicker">[^<]*</p>)<h3>', r'\1<h3 aria-level="2">', text)
            context[part] = re.sub(r'<th class="head[^"]*">(<p></p>)?</th>', "<td></td>", text)


def setup(app):
    """Connects what the pages of the library and the navigation need."""
    app.connect("autodoc-process-docstring", escape_names, priority=900)
    # after the theme
    app.connect("html-page-context", complete_markup, priority=900)
