"""`python -m lpsm`: the command line, which stands above this package and is therefore not one of its imports."""

from importlib import import_module

if __name__ == "__main__":
    import_module("experiments.cli").main()
