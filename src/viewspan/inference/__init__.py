"""Answers of a fitted model: labels of new samples, confidence, subspaces, scores, outliers."""
