"""The page of a run or of a comparison: one HTML file that needs no network, for people who were not there.

Sections (sections/) say what there is to see as blocks (blocks.py): cards, tables, and the figures that `plot` draws
too. What is too much for a page is thinned, and the page says so (thinning.py). html.py makes one file of it with
template.html, page.css, charts.js, which draws the figures, and page.js, which sorts tables and answers to switches.
"""
