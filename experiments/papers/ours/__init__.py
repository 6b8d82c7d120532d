"""Beyond the papers: what their conclusions depend on, and a wish of the thesis."""
