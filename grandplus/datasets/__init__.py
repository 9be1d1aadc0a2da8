"""Datasets as they are published: fetching their files, and one reader per file format."""
