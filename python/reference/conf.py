"""The reference of the Python package: `make docs` writes it to build/docs/python."""

import dgat

project = "dgat"
version = release = dgat.__version__
author = copyright = "the authors of dgat"
extensions = ["sphinx.ext.autodoc", "sphinx.ext.napoleon"]
autodoc_typehints = "none"  # the docstrings have them
autodoc_member_order = "bysource"
napoleon_google_docstring = False
napoleon_use_ivar = True
napoleon_use_rtype = False
html_theme = "alabaster"
html_theme_options = {"description": "Directional Graph Attention Network for Python", "page_width": "70em"}
html_show_sourcelink = False
