"""Studies that know no paper: sweeps, runs, stores, comparisons."""
