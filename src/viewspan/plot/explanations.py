"""Explanations of the plots for readers who do not know the mathematics."""

HOW_TO_READ = {
    "sizes": (
        "Each bar is a cluster, and the number at its end is its number of samples. A very small "
        "cluster may consist of a few outliers."
    ),
    "affinity": (
        "Each row and each column is a sample, and the samples are sorted by cluster. The darker a "
        "point, the larger the edge weight between its two samples. Dark squares along the "
        "diagonal are clusters with strong edges inside; marks outside the squares are edges "
        "between two clusters."
    ),
    "edge_shares": (
        "Each dot is a sample. The larger the share of its edge weight to a cluster, the closer it "
        "is to the position of that cluster. A dot at the position of its cluster has no edges to "
        "other clusters; a dot between two positions could belong to either cluster."
    ),
    "embedding": (
        "Each dot is a sample, and samples with strong edges are close to each other. Clusters "
        "that touch are hard to separate. The distances between separate clusters, and their "
        "positions, have no meaning."
    ),
    "eigenvalues": (
        "Each dot is an eigenvalue of the graph: k values close to 1 mean that the graph has k "
        "nearly separate parts. A wide gap after the marked number of clusters supports this "
        "number. An estimated number also takes into account the eigenvalues that noise alone "
        "would have, so it need not be at the widest gap."
    ),
    "view_similarity": (
        "Each number is the cosine similarity between the coefficients of two views. It is 1 if "
        "both views find the same relations between samples, and 0 if they have nothing in common."
    ),
    "view_contributions": (
        "The first bar of a view is its weight in the graph, as a share of the largest weight. "
        "The second bar is its score, which measures how well the clusters can be seen in this "
        "view alone: 1 is perfect, and 0 is no better than chance."
    ),
    "convergence": (
        "Each point is the certified gap at one check of the solver. The certified gap is an upper "
        "bound on the relative distance between the objective and its optimum. Below the dashed "
        "line, it is smaller than the requested tolerance."
    ),
    "confidence": (
        "The confidence of a sample is the share of its edge weight that stays in its own cluster. "
        "Samples in the shaded area have more edge weight to other clusters than to their own, so "
        "their labels are unreliable."
    ),
    "exemplars": (
        "Each row shows the most typical samples of one cluster. The images in a row should look "
        "alike. Two rows that look alike may be one group that was split."
    ),
    "subspace_dimensions": (
        "Each number is the dimension of the subspace of a cluster in a view: the number of "
        "directions needed to describe its samples. A small number means that the samples vary in "
        "few ways."
    ),
}
"""Explanations of the plots by the names of their functions, a few sentences each."""
