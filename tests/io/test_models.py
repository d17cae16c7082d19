"""Models in files: everything comes back, nothing is executed."""

import io
import json
import os
import zipfile
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import viewspan
from tests.estimators.test_scalable import EVERYONE
from tests.problems import many_subspaces
from viewspan._utils import memory
from viewspan.io.models import archive

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
        (loaded.predict(new), loaded.transform(new), loaded.predict_confidence(views)),
        expected,
        strict=True,
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
    np.testing.assert_array_equal(
        viewspan.load(tmp_path / "model").predict(views), model.predict(views)
    )
    model.partial_fit(views)


def test_callbacks_of_scikit_learn_are_not_kept(tmp_path):
    callbacks = pytest.importorskip(
        "sklearn.callback", reason="scikit-learn has callbacks since 1.9"
    )
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


def repacked(path, change):
    """A saved model, changed by somebody who knows the format and mends the checksums."""
    parts = archive.parts_of(path)
    change(parts)
    parts.pop(archive.SUMS, None)
    lines = [f"{sha256(part).hexdigest()}  {name}\n" for name, part in parts.items()]
    write_archive(path, parts | {archive.SUMS: "".join(lines).encode()})


def write_archive(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)


def described(change):
    """A change of what the description says of the model."""

    def of_parts(parts):
        description = json.loads(parts[archive.DESCRIPTION])
        change(description)
        parts[archive.DESCRIPTION] = json.dumps(description).encode()

    return of_parts


def within(name, content):
    return described(lambda description: description["model"]["LRR"].update({name: content}))


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    views, _ = many_subspaces(100)
    path = tmp_path_factory.mktemp("models") / "model"
    viewspan.save(viewspan.LRR(5, random_state=0).fit(views), path)
    return path.read_bytes()


@pytest.fixture
def saved(written, tmp_path):
    (tmp_path / "model").write_bytes(written)
    return tmp_path / "model"


def test_a_file_is_plain_arrays_and_json_with_a_version_and_checksums(saved, tmp_path):
    with zipfile.ZipFile(saved) as file:
        file.extractall(tmp_path / "parts")
    description = json.loads((tmp_path / "parts" / "model.json").read_text())
    assert description["format"] == "viewspan model"
    assert description["version"] == 1
    assert description["viewspan"] == viewspan.__version__
    names = {
        path.relative_to(tmp_path / "parts").as_posix()
        for path in (tmp_path / "parts").rglob("*.*")
    }
    sums = dict(
        reversed(line.split("  "))
        for line in (tmp_path / "parts" / "SHA256SUMS").read_text().splitlines()
    )
    assert set(sums) == names
    for name, digest in sums.items():
        assert sha256((tmp_path / "parts" / name).read_bytes()).hexdigest() == digest
    for path in (tmp_path / "parts" / "arrays").iterdir():
        assert np.load(path, allow_pickle=False).dtype.kind in archive.PLAIN


def test_one_model_has_one_content(saved):
    assert viewspan.io.models.as_bytes(viewspan.load(saved)) == saved.read_bytes()


def test_what_is_shared_stays_shared(saved):
    model = viewspan.load(saved)
    assert model.result_ is model.path_[0] is model._fit.results[0]
    assert model.affinity_matrix_ is model._fit.united.graph


def test_parameters_of_every_kind(tmp_path):
    views, _ = many_subspaces(100)
    frames = {
        "a": pd.DataFrame(views[0]).add_prefix("x"),
        "b": pd.DataFrame(views[1]).add_prefix("y"),
    }
    generator = np.random.RandomState(3)
    model = viewspan.CLRSC(np.int64(5), random_state=generator, view_weights=[1, 2.5])
    model.set_output(transform="pandas").fit(frames)
    model.set_params(tau=np.inf, lam=np.array([1.0, 2.0]))
    viewspan.save(model, tmp_path / "model")
    loaded = viewspan.load(tmp_path / "model")
    assert (loaded.n_clusters, loaded.tau, loaded.view_weights) == (5, np.inf, [1, 2.5])
    assert isinstance(loaded.n_clusters, np.int64)
    assert loaded.random_state.randint(1000) == generator.randint(1000)
    for found, wanted in zip(loaded.feature_names_in_, model.feature_names_in_, strict=True):
        assert found.dtype == object
        assert list(found) == list(wanted)
    pd.testing.assert_frame_equal(loaded.transform(frames), model.transform(frames))


def test_a_parameter_that_cannot_be_saved_is_named(tmp_path):
    views, _ = many_subspaces(100)
    model = viewspan.LRR(5, random_state=0).fit(views)
    model.lam = pd.Series([1.0, 2.0])
    with pytest.raises(
        TypeError, match="Series, which cannot be saved: give parameters as numbers"
    ):
        viewspan.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_one_changed_byte_is_seen_or_changes_nothing(written, tmp_path):
    """The archive's own directory has places, such as the system that it was written on, that nobody reads."""
    seen = 0
    for place in np.linspace(0, len(written) - 1, 60).astype(int):
        (tmp_path / "model").write_bytes(
            written[:place] + bytes([written[place] ^ 0xFF]) + written[place + 1 :]
        )
        try:
            model = viewspan.load(tmp_path / "model")
        except ValueError:
            seen += 1
        else:
            assert viewspan.io.models.as_bytes(model) == written
    assert seen >= 55


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.99])
def test_a_truncated_file_is_seen(share, saved):
    saved.write_bytes(saved.read_bytes()[: int(share * saved.stat().st_size)])
    with pytest.raises(ValueError, match="is not a model that viewspan saved"):
        viewspan.load(saved)


def test_changed_numbers_are_seen(saved):
    parts = archive.parts_of(saved)
    parts["arrays/0.npy"] = parts["arrays/0.npy"][:-1] + b"\x7f"
    write_archive(saved, parts)
    with pytest.raises(ValueError, match=r"'arrays/0.npy' is not what was written"):
        viewspan.load(saved)


def test_a_lost_part_is_seen(saved):
    parts = archive.parts_of(saved)
    del parts["arrays/1.npy"]
    write_archive(saved, parts)
    with pytest.raises(ValueError, match=r"'arrays/1.npy' is not what was written"):
        viewspan.load(saved)


def npy(array, **header):
    """An array, with a header that may lie."""
    buffer = io.BytesIO()
    true = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(buffer, true | header)
    return buffer.getvalue() + array.tobytes()


def in_place_of_an_array(content):
    return lambda parts: parts.update({"arrays/0.npy": content})


def pickled(parts):
    buffer = io.BytesIO()
    np.save(buffer, np.array([Intruder()], dtype=object), allow_pickle=True)
    parts["arrays/0.npy"] = buffer.getvalue()


class Intruder:
    def __reduce__(self):
        return os.mkdir, ("intruded",)


def out_of_bounds(parts):
    """All whole numbers, the indices of graphs among them, are far too large."""
    for name in [name for name in parts if name.endswith(".npy")]:
        array = archive.from_npy(parts[name])
        if array.dtype.kind == "i":
            parts[name] = archive.as_npy(np.full_like(array, 2**30))


def without_confidence(parts):
    described(lambda description: description["model"]["LRR"].pop("confidence_"))(parts)


def other_field(parts):
    described(lambda description: description["model"]["LRR"]["_fit"]["Fitted"].update(other=1))(
        parts
    )


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            within("labels_", {"KMeans": {}}),
            "it asks for 'KMeans', which no model of viewspan needs",
        ),
        (within("labels_", {"os.system": ["true"]}), "it asks for 'os.system'"),
        (within("labels_", {"array": 10**6}), "damaged"),
        (within("labels_", {"array": -1}), "-1 is no number of a part"),
        (within("labels_", {"again": 10**6}), "damaged"),
        (within("labels_", {"array": 0, "tuple": []}), "damaged"),
        (within("labels_", {"texts": [["a"], [10**12]]}), "damaged"),
        (within("labels_", {"texts": [[1], [1]]}), "holds something else"),
        (within("labels_", {"float": "1e5"}), "is no number"),
        (within("labels_", [1, 2]), "its parts are not of one size"),
        (within("lam", {"RandomState": {"tuple": ["MT19937", [1], 1, 0, 0.0]}}), "damaged"),
        (within("predict", 1), "LRR keeps nothing in 'predict'"),
        (within("__class__", 1), "LRR keeps nothing in '__class__'"),
        (without_confidence, "it has no confidence_"),
        (other_field, "its Fitted is not made of preparation"),
        (out_of_bounds, "a sparse array points outside of itself"),
        (pickled, "an array of object"),
        (in_place_of_an_array(npy(np.zeros(3), shape=(10**12,))), "not as large as it says"),
        (in_place_of_an_array(npy(np.zeros(3), shape=(-3,))), "damaged"),
        (in_place_of_an_array(npy(np.zeros(3), shape=(-1, -3))), "not as large as it says"),
        (in_place_of_an_array(npy(np.zeros(3, dtype=[("a", "f8")]))), "damaged"),
        (in_place_of_an_array(b"x"), "damaged"),
        (
            described(lambda description: description.update(version=2)),
            "has version 2 of the format.* fit again",
        ),
        (
            described(lambda description: description.update(format="other")),
            "is not a model that viewspan saved",
        ),
        (described(lambda description: description.update(model=[3])), "it holds no model"),
        (lambda parts: parts.update({"model.json": b"[" * 100_000}), "damaged"),
        (lambda parts: parts.update({"model.json": b"{"}), "damaged"),
        (lambda parts: parts.pop("model.json"), "damaged"),
        (
            lambda parts: parts.update({"arrays/9999.npy": bytes(200_000_000)}),
            "content of 2.* would fill the memory",
        ),
        (
            lambda parts: parts.update({"../outside.npy": b""}),
            "its part '../outside.npy' is in no model",
        ),
        (
            lambda parts: parts.update({"schema.json": b"{}"}),
            "a model of an older viewspan.* Fit again",
        ),
    ],
)
def test_models_that_were_tampered_with(change, message, saved, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    repacked(saved, change)
    with pytest.raises(ValueError, match=message) as caught:
        viewspan.load(saved)
    assert str(caught.value).startswith(str(saved))
    assert str(caught.value).endswith(".")
    assert not (tmp_path / "intruded").exists()


def test_a_model_compressed_in_another_way(saved):
    parts = archive.parts_of(saved)
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_LZMA) as file:  # whose tables may be of any size
        for name, part in parts.items():
            file.writestr(name, part)
    with pytest.raises(ValueError, match="compressed in another way"):
        viewspan.load(saved)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_of_one_name(saved):
    with zipfile.ZipFile(saved, "a") as file:
        file.writestr("arrays/0.npy", b"")
    with pytest.raises(ValueError, match="two parts of one name"):
        viewspan.load(saved)


def test_more_than_the_memory_holds_is_refused(saved, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(ValueError, match="would fill the memory"):
        viewspan.load(saved)


def test_files_that_are_no_archives(tmp_path):
    with pytest.raises(FileNotFoundError):
        viewspan.load(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    for nothing in ("/dev/zero", tmp_path / "pipe", tmp_path):
        with pytest.raises(ValueError, match="is no file"):
            viewspan.load(nothing)
    (tmp_path / "text").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a model that viewspan saved"):
        viewspan.load(tmp_path / "text")
