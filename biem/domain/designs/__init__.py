"""Formulas and values of the published designs."""
