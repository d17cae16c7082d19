"""Run a fit from checked views to labels: on all samples, on landmarks or in batches."""
