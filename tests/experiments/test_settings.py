"""Other settings, another key."""

from functools import partial

import numpy as np
import pytest
from sklearn.cluster import KMeans

from tests.experiments.toys import make_blobs, toy_study
from viewspan import CLRSC, LRR
from viewspan.experiments import Method, Study
from viewspan.experiments.settings import describe, describe_study, key


def key_of(study, seed=0):
    return key(describe_study(study, seed))


def test_the_same_settings_have_the_same_key():
    assert key_of(toy_study()) == key_of(toy_study())
    plain = toy_study()
    titled = Study(plain.name, plain.generate, plain.noise, plain.methods, title="A title")
    assert key_of(plain) == key_of(titled)


def other_blobs(*, noise, random_state):
    return make_blobs(noise=2 * noise, random_state=random_state)


@pytest.mark.parametrize(
    "change",
    [
        {"name": "other"},
        {"noise": (0.0, 0.3)},
        {"generate": other_blobs},
        {"generate": partial(make_blobs, n_clusters=4)},
        {"methods": [Method("LRR", LRR(3, lam=0.1)), Method("k-means", KMeans(3, n_init=2), "concat")]},
        {"methods": [Method("LRR", LRR(3)), Method("k-means", KMeans(3, n_init=2), 0)]},
        {"methods": [Method("LRR", LRR(3), setting="mine"), Method("k-means", KMeans(3, n_init=2), "concat")]},
        {"methods": [Method("LRR", LRR(3))]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_change_of_the_study_is_another_key(change):
    assert key_of(toy_study(**change)) != key_of(toy_study())


def test_another_seed_or_version_is_another_key(monkeypatch):
    assert key_of(toy_study(), seed=1) != key_of(toy_study())
    before = key_of(toy_study())
    monkeypatch.setattr("viewspan.experiments.settings.versions", lambda: "numpy 99")
    assert key_of(toy_study()) != before


def test_an_edited_function_is_another_setting():
    sources = ["def f(noise, random_state): return 1", "def f(noise, random_state): return 2"]
    functions = []
    for source in sources:
        scope: dict = {"__name__": "notebook"}
        exec(compile(source, "<cell>", "exec"), scope)
        functions.append(scope["f"])
    assert describe(functions[0]) != describe(functions[1])


def test_large_arrays_count_whole():
    weights = np.full(5000, 0.1)
    changed = weights.copy()
    changed[2500] = 0.2
    assert describe(CLRSC(3, lam=weights)) != describe(CLRSC(3, lam=changed))
    assert describe(CLRSC(3, lam=weights)) == describe(CLRSC(3, lam=weights.copy()))
