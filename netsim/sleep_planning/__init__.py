"""What LPSM3 plans its sleep by: hazards of waits, the plan of least expected cost, and prices of delay."""
