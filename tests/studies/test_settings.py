"""Keys of settings: equal settings have the same key, different settings another one."""

import os
import re
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from tests.studies.toys import make_blobs, toy_study
from viewspan import CLRSC, LRR
from viewspan.studies import Method, Study
from viewspan.studies.settings import describe, describe_study, settings_key

ROOT = Path(__file__).parents[2]


def key_of(study, seed=0):
    return settings_key(describe_study(study, seed))


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
        {
            "methods": [
                Method("LRR", LRR(3, lam=0.1)),
                Method("k-means", KMeans(3, n_init=2), "concat"),
            ]
        },
        {"methods": [Method("LRR", LRR(3)), Method("k-means", KMeans(3, n_init=2), 0)]},
        {
            "methods": [
                Method("LRR", LRR(3), setting="mine"),
                Method("k-means", KMeans(3, n_init=2), "concat"),
            ]
        },
        {"methods": [Method("LRR", LRR(3))]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_any_change_of_the_study_gives_another_key(change):
    assert key_of(toy_study(**change)) != key_of(toy_study())


def test_another_seed_or_version_gives_another_key(monkeypatch):
    assert key_of(toy_study(), seed=1) != key_of(toy_study())
    before = key_of(toy_study())
    monkeypatch.setattr("viewspan.studies.settings.versions", lambda: "numpy 99")
    assert key_of(toy_study()) != before


def run_source(source, name):
    scope: dict = {"__name__": "notebook"}
    exec(compile(source, "<cell>", "exec"), scope)
    return scope[name]


CLASS = """
class Mine:
    def __init__(self, a): self.a = a
    def get_params(self, deep=True): return {"a": self.a}
    def fit_predict(self, X): return %s
    def __call__(self, noise, random_state): return %s
"""
FUNCTION = "def f(noise, random_state): return %s"
NESTED = """
def f(noise, random_state):
    double = lambda x: 2 * x
    return [double(x) for x in (1, 2) if x in {'a', 'b', 'c', 'd', 'e'}]
"""


def closure(constant):
    return lambda noise, random_state: constant


def with_default(constant):
    def generate(noise, random_state, *, amount=constant):
        return amount

    return generate


class Holder:
    def __init__(self, constant):
        self.constant = constant

    def generate(self, noise, random_state):
        return self.constant


FIRST, SECOND = (lambda noise: 1), (lambda noise: 2)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (run_source(FUNCTION % 1, "f"), run_source(FUNCTION % 2, "f")),
        (closure(1), closure(2)),
        (with_default(1), with_default(2)),
        (Holder(1).generate, Holder(2).generate),
        (FIRST, SECOND),
        (run_source(CLASS % (1, 1), "Mine")(0), run_source(CLASS % (2, 1), "Mine")(0)),
        (run_source(CLASS % (1, 1), "Mine")(0), run_source(CLASS % (1, 2), "Mine")(0)),
        (run_source(CLASS % (1, 1), "Mine")(0), run_source(CLASS % (1, 1), "Mine")(1)),
        (partial(make_blobs, 1), partial(make_blobs, 2)),
        (make_pipeline(StandardScaler(), KMeans(3)), make_pipeline(StandardScaler(), KMeans(4))),
        (KMeans(3), KMeans(4)),
        (np.float64(1), np.float64(2)),
    ],
    # The ids must be the same in every process, so they have no memory addresses.
    ids=lambda value: re.sub(r" at 0x[0-9a-f]+", "", str(value)),
)
def test_different_values_have_different_descriptions(one, other):
    assert describe(one) != describe(other)
    assert describe(one) == describe(one)


def test_the_same_code_has_the_same_key_in_every_process():
    """Compiling again changes memory addresses; another hash seed changes the order of sets."""
    code = (
        "import sys; sys.path.insert(0, '.')\n"
        "from tests.studies.test_settings import NESTED, run_source, settings_key, describe\n"
        "for _ in range(2): print(settings_key({'f': describe(run_source(NESTED, 'f'))}))"
    )
    keys = set()
    for seed in ("1", "2"):
        environment = {**os.environ, "PYTHONHASHSEED": seed}
        result = subprocess.run(
            [sys.executable, "-c", code],
            capture_output=True,
            text=True,
            check=True,
            env=environment,
            cwd=ROOT,
        )
        keys |= set(result.stdout.split())
    assert len(keys) == 1


def test_a_function_that_calls_itself_can_be_described():
    def recursive(noise, random_state):
        return recursive(noise, random_state)

    assert describe(recursive)["closure"] == ["itself"]


def test_every_entry_of_a_large_array_matters():
    weights = np.full(5000, 0.1)
    changed = weights.copy()
    changed[2500] = 0.2
    assert describe(CLRSC(3, lam=weights)) != describe(CLRSC(3, lam=changed))
    assert describe(CLRSC(3, lam=weights)) == describe(CLRSC(3, lam=weights.copy()))
