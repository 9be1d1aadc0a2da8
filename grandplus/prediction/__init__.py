"""What users take away: calibrated predictions under their own ids, for all nodes or for a few."""
