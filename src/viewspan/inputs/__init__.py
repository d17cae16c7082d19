"""Check, align and preprocess the views that a user passes."""
