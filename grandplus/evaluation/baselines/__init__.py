"""Cheap classifiers on the splits of a run, beside which its accuracy is read: one file for each."""
