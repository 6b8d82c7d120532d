"""How the model is run: machine code called by its address, and what stands in for it."""
