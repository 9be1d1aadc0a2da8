"""Nodes and edges that came later, read from files."""
