"""Samplers in other libraries' interfaces: `scikit_learn` and `river`, each imported only when asked for."""
