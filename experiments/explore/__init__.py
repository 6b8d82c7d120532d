"""A page on this machine in which the parameters of a comparison are moved by hand."""
