"""Where and how work runs, whatever the work is: environment, pools, storage, progress, errors."""
