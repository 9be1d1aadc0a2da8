"""From which homophily on edges help: the rule of import, chosen on some graphs and shown on others."""
