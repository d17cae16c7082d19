"""What the pictures mean, for people who do not know the mathematics."""

HOW_TO_READ = {
    "sizes": "Every bar is a cluster, and the number at its end is how many samples it has. A very small cluster may "
    "be a few unusual samples that fit nowhere else.",
    "affinity": "Every row and every column is a sample, and samples of one cluster stand together. Filled squares "
    "along the diagonal are clusters that hold together; ink outside of them is ties between two clusters.",
    "ties": "Every dot is a sample, drawn towards the clusters that it is tied to. A dot at the place of its "
    "cluster is sure; a dot between two places could belong to either.",
    "embedding": "Every dot is a sample, and samples that the graph holds together are near each other. Groups that "
    "touch are hard to tell apart; how far apart groups lie, and where, means nothing.",
    "eigenvalues": "Every dot is one possible group, and the higher it is, the better that group is set apart from the "
    "rest. A deep step down after the marked number of clusters means that this number suits the data. A number "
    "that was read from the data was read after taking off what noise would show, so it need not be at the deepest "
    "step.",
    "view_similarity": "Every number compares two views: 1 if they see the same relations between samples, 0 if they "
    "have nothing in common.",
    "view_contributions": "The first bar of a view is how much it counted; the second is how well the clusters can be "
    "seen in this view alone, where 0 is no better than chance and 1 is perfect.",
    "convergence": "Every point shows how far the answer could still be from the best possible one. Below the dashed "
    "line it is proven to be as near as was asked for.",
    "confidence": "Every sample is counted at the share of its ties that are with its own cluster. Those in the shaded "
    "part have more ties with other clusters than with their own, so do not rely on their label.",
    "exemplars": "Every row shows the samples that are most typical of one cluster. They should look alike; two rows "
    "that look alike may be one group that was cut in two.",
    "subspace_dimensions": "Every number is how many directions are needed to describe the samples of a cluster in a "
    "view. Small numbers mean that they vary in few ways there.",
}
"""One or two sentences for every picture, by the name of its function."""
