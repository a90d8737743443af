"""Settings of the documentation site: `make docs` builds it into build/docs, with every warning an error.

The pages are the Markdown files of this directory, which read as well on a code host. What the site adds is in
`_site/`: equations as MathML, pages filled from the code, links to files outside of this directory. Nothing is loaded
from a network, neither when the site is built nor when it is read.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent / "_site"))

project = "hfedms_sim"
author = "the hfedms_sim authors"
html_title = "hfedms_sim"

extensions = ["myst_parser", "sphinx.ext.autodoc", "mathml", "filling", "docstrings"]
exclude_patterns = ["_site", "results"]
source_suffix = {".md": "markdown"}

myst_enable_extensions = ["deflist", "dollarmath"]
myst_heading_anchors = 4  # links to headings work as they do on a code host

highlight_language = "text"
pygments_style = "default"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
default_role = "code"  # docstrings put names between single backticks
add_module_names = False
python_maximum_signature_line_length = 88

html_theme = "furo"
html_math_renderer = "mathml"
html_static_path = ["_site/static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True}
