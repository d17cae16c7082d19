"""Answer questions about a fitted model: new samples, confidence, subspaces, view scores, outliers."""
