"""Cavallanti, Cesa-Bianchi and Gentile 2010, on adaptive and selective sampling."""
