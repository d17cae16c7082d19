"""Turn what a user passes into checked, aligned and preprocessed views."""
