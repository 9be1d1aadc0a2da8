"""Tuning: a fixed portfolio of settings, compared on validation nodes in rounds of growing length."""
