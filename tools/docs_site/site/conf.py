"""Settings of Sphinx for the site that tools/docs_site stages."""

from importlib.metadata import version as version_of
from pathlib import Path

project = "bellcrank"
version = release = version_of("bellcrank")
html_title = "bellcrank"
project_copyright = "the authors of bellcrank, BSD 3-Clause"

extensions = ["myst_parser", "sphinx_copybutton", "sphinx_design", "docs_site.mathml"]
myst_enable_extensions = ["dollarmath", "colon_fence"]
myst_heading_anchors = 4
myst_links_external_new_tab = True
html_math_renderer = "mathml"
highlight_language = "python"
suppress_warnings = ["misc.highlighting_failure"]  # excerpts with "..." are no whole programs

add_module_names = False
python_use_unqualified_type_names = True
python_maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_logo = None
html_search_scorer = str(Path(__file__).with_name("scorer.js"))
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_last_updated_fmt = ""
pygments_style = "friendly"
pygments_dark_style = "github-dark"
_fonts = "Inter, system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
html_theme_options = {
    "light_logo": "logo.svg",
    "dark_logo": "logo-dark.svg",
    "sidebar_hide_name": False,
    "navigation_with_keys": True,
    "light_css_variables": {
        "font-stack": _fonts,
        "color-brand-primary": "#17607a",
        "color-brand-content": "#17607a",
        "color-brand-visited": "#17607a",
        "color-api-name": "#17607a",
        "color-api-pre-name": "#17607a",
        "color-code-background": "#f6f7f9",
    },
    "dark_css_variables": {
        "color-brand-primary": "#6cc3dd",
        "color-brand-content": "#6cc3dd",
        "color-brand-visited": "#6cc3dd",
        "color-api-name": "#6cc3dd",
        "color-api-pre-name": "#6cc3dd",
    },
}
copybutton_exclude = ".linenos, .gp, .go"
copybutton_selector = "div:not(.output) > div.highlight > pre"
