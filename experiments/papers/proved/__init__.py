"""What the papers prove about sources that no user's stream can be shown to be: one pure function a statement.

Statements that speak of any stream are in `lpsm.bounds`.
"""
