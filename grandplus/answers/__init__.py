"""What users take away: predictions under their own ids, for all nodes or a few, and the reasons for them."""
