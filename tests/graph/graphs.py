"""Small graphs for tests."""

import numpy as np


def block_graph(sizes=(10, 10, 10), between=0.05, seed=0):
    """Return a graph of groups, whose edges have random weights, and the groups' labels."""
    labels = np.repeat(np.arange(len(sizes)), sizes)
    graph = np.where(labels[:, None] == labels, 1.0, between)
    graph = graph * np.random.default_rng(seed).uniform(0.5, 1.0, graph.shape)
    return graph + graph.T, labels


def random_graph(n_samples, seed=0, power=1):
    """Return a graph without groups."""
    half = np.random.default_rng(seed).uniform(size=(n_samples, n_samples)) ** power
    return half + half.T


def normalised(graph):
    """Return D^-½ G D^-½ of a dense graph."""
    scale = 1 / np.sqrt(graph.sum(axis=1))
    return graph * scale * scale[:, None]
