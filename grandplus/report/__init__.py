"""Experiments that people look at: one table of all, and a page that compares some."""
