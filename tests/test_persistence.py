"""Models in files: everything comes back, nothing is executed."""

import io
import os
import zipfile

import numpy as np
import pytest
import scipy.sparse
import skops.io
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import viewspan
from tests.estimators.test_scalable import EVERYONE
from tests.problems import many_subspaces

FULLER = [
    viewspan.CLRSC(5, coupling="rank_one", random_state=0),
    viewspan.CLRSC(5, penalty="l1", random_state=0, tol=1e-2),
    viewspan.CLRSC(None, random_state=3),
]


@pytest.mark.parametrize("model", [*EVERYONE, *FULLER], ids=repr)
def test_everything_comes_back(model, tmp_path):
    views, _ = many_subspaces(300)
    new = [view[::3] * 2 for view in views]
    seen: list = []
    fitted = clone(model).set_params(callback=seen.append).fit(views)
    expected = fitted.predict(new), fitted.transform(new), fitted.predict_confidence(views)
    viewspan.save(fitted, tmp_path / "model")
    loaded = viewspan.load(tmp_path / "model")
    for found, wanted in zip(
        (loaded.predict(new), loaded.transform(new), loaded.predict_confidence(views)), expected, strict=True
    ):
        np.testing.assert_array_equal(found, wanted)
    assert loaded.dual_gap_ == fitted.dual_gap_
    np.testing.assert_array_equal(loaded.view_scores_, fitted.view_scores_)
    assert loaded.subspaces_[0][0].dimension == fitted.subspaces_[0][0].dimension
    assert fitted.callback is not None and loaded.callback is None
    assert loaded.set_params(n_clusters=4).fit(views).n_clusters_ == 4


def test_batches_are_kept_as_they_are_solved(tmp_path):
    views, _ = many_subspaces(300)
    model = viewspan.CLRSC(5, random_state=0).partial_fit(views)
    viewspan.save(model, tmp_path / "model")
    np.testing.assert_array_equal(viewspan.load(tmp_path / "model").predict(views), model.predict(views))
    model.partial_fit(views)


def test_callbacks_of_scikit_learn_are_not_kept(tmp_path):
    callbacks = pytest.importorskip("sklearn.callback", reason="scikit-learn has callbacks since 1.9")
    views, _ = many_subspaces(300)
    model = viewspan.LRR(5, random_state=0).set_callbacks(callbacks.ProgressBar()).fit(views)
    viewspan.save(model, tmp_path / "model")
    np.testing.assert_array_equal(viewspan.load(tmp_path / "model").labels_, model.labels_)


def test_absent_samples(tmp_path):
    views, _ = many_subspaces(300)
    views[0][:20] = np.nan
    model = viewspan.CLRSC(5, missing="allow", random_state=0).fit(views)
    viewspan.save(model, tmp_path / "model")
    np.testing.assert_array_equal(viewspan.load(tmp_path / "model").predict(views), model.labels_)


def test_what_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        viewspan.save(viewspan.CLRSC(3), tmp_path / "model")
    assert not (tmp_path / "model").exists()


class Intruder:
    def __reduce__(self):
        return os.mkdir, ("intruded",)


def test_foreign_types_are_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    skops.io.dump({"viewspan": "0.1.0", "model": Intruder()}, tmp_path / "model")
    with pytest.raises(ValueError, match="which no model of viewspan needs"):
        viewspan.load(tmp_path / "model")
    assert not (tmp_path / "intruded").exists()


@pytest.mark.parametrize("content", [{"viewspan": "0.1.0", "model": [1, 2]}, {"other": 1}, [3]])
def test_other_archives_are_refused(content, tmp_path):
    skops.io.dump(content, tmp_path / "model")
    with pytest.raises(ValueError, match=r"damaged, or no model|no whole model"):
        viewspan.load(tmp_path / "model")


def changed(path, change):
    """A saved model whose description was rewritten."""
    with zipfile.ZipFile(path) as archive:
        contents = {entry.filename: archive.read(entry) for entry in archive.infolist()}
    change(contents)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in contents.items():
            archive.writestr(name, content)


@pytest.fixture
def saved(tmp_path):
    views, _ = many_subspaces(100)
    viewspan.save(viewspan.LRR(5, random_state=0).fit(views), tmp_path / "model")
    return tmp_path / "model"


def other_class(contents):
    schema = contents["schema.json"].decode()
    contents["schema.json"] = (
        schema.replace('"viewspan.recognition"', '"sklearn.cluster"').replace("Known", "KMeans").encode()
    )


def out_of_bounds(contents):
    for name in [name for name in contents if name.endswith(".npz")]:
        graph = scipy.sparse.load_npz(io.BytesIO(contents[name]))
        graph.indices[:] = 2**30
        buffer = io.BytesIO()
        scipy.sparse.save_npz(buffer, graph)
        contents[name] = buffer.getvalue()


def without_labels(contents):
    contents["schema.json"] = contents["schema.json"].replace(b'"confidence_"', b'"other_"')


def bomb(contents):
    contents["filling"] = bytes(200_000_000)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (other_class, "asks for sklearn.cluster.KMeans, which no model of viewspan needs"),
        (out_of_bounds, "damaged"),
        (without_labels, "damaged"),
        (bomb, "would fill the memory"),
        (lambda contents: contents.update({"schema.json": b"[" * 100_000}), "damaged"),
        (lambda contents: contents.update(dict.fromkeys([n for n in contents if n.endswith("npy")], b"x")), "damaged"),
    ],
)
def test_models_that_were_tampered_with(change, message, saved):
    changed(saved, change)
    with pytest.raises(ValueError, match=message):
        viewspan.load(saved)


def test_files_that_are_no_archives(tmp_path):
    with pytest.raises(FileNotFoundError):
        viewspan.load(tmp_path / "nothing")
    (tmp_path / "text").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a model that viewspan saved"):
        viewspan.load(tmp_path / "text")
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        archive.writestr("schema.json", "{")
    (tmp_path / "broken").write_bytes(buffer.getvalue())
    with pytest.raises(ValueError, match="damaged"):
        viewspan.load(tmp_path / "broken")
