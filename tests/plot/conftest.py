"""Fitted models for the tests of plots."""

import matplotlib as mpl

mpl.use("agg")

import matplotlib.pyplot as plt
import pytest

import viewspan
from viewspan.datasets import make_subspaces


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="session")
def views():
    return dict(zip("ab", make_subspaces(noise=0.3, n_features=48, random_state=0)[0], strict=True))


@pytest.fixture(scope="session")
def model(views):
    """Fit two named views with five clusters."""
    return viewspan.CLRSC(5, random_state=0).fit(views)


@pytest.fixture(scope="session")
def landmarks(views):
    """Fit a graph of 60 landmarks whose rows are known."""
    model = viewspan.CLRSC(5, graph="landmarks", n_landmarks=60, read_as="directions")
    return model.set_params(random_state=0).fit(views)


@pytest.fixture(scope="session")
def single(views):
    """Fit one view with two clusters."""
    return viewspan.LRR(2, random_state=0).fit(views["a"])
