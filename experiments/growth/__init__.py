"""Nodes that come after training."""
