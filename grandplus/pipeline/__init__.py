"""All that knows DVC and the folders of a checkout: settings, cards, the stage runner, trials, checks before a run."""
