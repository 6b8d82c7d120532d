"""Cesa-Bianchi, Gentile and Zaniboni 2004: label-efficient Perceptrons."""
