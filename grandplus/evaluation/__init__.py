"""How good the predictions are: scores, calibration and plots."""
