"""Save and load models: all results are kept, and nothing in a file is executed."""

import io
import json
import os
import zipfile
from dataclasses import dataclass, replace
from hashlib import sha256

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import viewspan
from tests.estimators.test_incremental import ALL_MODELS
from tests.problems import many_subspaces
from viewspan._utils import memory
from viewspan.io.models import archive, schema
from viewspan.objective import Frobenius, NuclearCoupling

MORE_MODELS = [
    viewspan.CLRSC(5, coupling="rank_one", random_state=0),
    viewspan.CLRSC(5, penalty="l1", random_state=0, tol=1e-2),
    viewspan.CLRSC(None, random_state=3),
]


def reloaded(model, folder):
    viewspan.save(model, folder / "model")
    return viewspan.load(folder / "model")


@pytest.mark.parametrize("model", [*ALL_MODELS, *MORE_MODELS], ids=repr)
def test_a_loaded_model_gives_the_same_results(model, tmp_path):
    views, _ = many_subspaces(150)
    new = [view[::3] * 2 for view in views]
    calls: list = []
    fitted = clone(model).set_params(callback=calls.append).fit(views)
    loaded = reloaded(fitted, tmp_path)
    np.testing.assert_array_equal(loaded.labels_, fitted.labels_)
    np.testing.assert_array_equal(loaded.predict(new), fitted.predict(new))
    np.testing.assert_array_equal(loaded.transform(new), fitted.transform(new))
    np.testing.assert_array_equal(
        loaded.predict_confidence(views), fitted.predict_confidence(views)
    )
    assert loaded.dual_gap_ == fitted.dual_gap_
    np.testing.assert_array_equal(loaded.view_scores_, fitted.view_scores_)
    assert loaded.subspaces_[0][0].dimension == fitted.subspaces_[0][0].dimension
    assert fitted.callback is not None and loaded.callback is None
    assert loaded.set_params(n_clusters=4).fit(views).n_clusters_ == 4


def test_a_model_of_batches_is_saved_as_it_was_solved(tmp_path):
    views, _ = many_subspaces(300)
    model = viewspan.CLRSC(5, random_state=0).partial_fit(views).partial_fit()
    loaded = reloaded(model, tmp_path)
    np.testing.assert_array_equal(loaded.predict(views), model.predict(views))
    model.partial_fit(views)


def test_batches_must_be_solved_before_they_are_saved(tmp_path):
    views, _ = many_subspaces(300)
    model = viewspan.CLRSC(5, random_state=0).partial_fit(views)
    with pytest.raises(NotFittedError):
        viewspan.save(model, tmp_path / "model")


def test_callbacks_of_scikit_learn_are_not_saved(tmp_path):
    callbacks = pytest.importorskip(
        "sklearn.callback", reason="scikit-learn has callbacks since 1.9"
    )
    views, _ = many_subspaces(300)
    model = viewspan.LRR(5, random_state=0).set_callbacks(callbacks.ProgressBar()).fit(views)
    np.testing.assert_array_equal(reloaded(model, tmp_path).labels_, model.labels_)


def test_a_model_with_missing_samples(tmp_path):
    views, _ = many_subspaces(300)
    views[0][:20] = np.nan
    model = viewspan.CLRSC(5, missing="allow", random_state=0).fit(views)
    np.testing.assert_array_equal(reloaded(model, tmp_path).predict(views), model.labels_)


def test_a_model_that_is_not_fitted_is_not_saved(tmp_path):
    with pytest.raises(NotFittedError):
        viewspan.save(viewspan.CLRSC(3), tmp_path / "model")
    assert not (tmp_path / "model").exists()


@dataclass(frozen=True)
class ScaledCoupling(NuclearCoupling):
    """A coupling that viewspan does not know."""

    factor: float = 1.0

    def value(self, stack):
        return self.factor * super().value(stack)

    def prox(self, stack, step):
        return super().prox(stack, self.factor * step)

    def polar(self, stack):
        return super().polar(stack) / self.factor


def test_a_coupling_of_a_foreign_class_is_left_out_with_a_warning(tmp_path):
    views, _ = many_subspaces(100)
    model = viewspan.CLRSC(5, lam=0.5, tau=1.0, coupling=ScaledCoupling(2.0), random_state=0)
    model.fit(views)
    with pytest.warns(
        UserWarning, match=r"coupling=ScaledCoupling\(factor=2\.0\) is saved without"
    ):
        loaded = reloaded(model, tmp_path)
    new = [2 * view[::3] for view in views]
    np.testing.assert_array_equal(loaded.predict(new), model.predict(new))
    np.testing.assert_array_equal(loaded.transform(new), model.transform(new))
    assert loaded.coupling is None
    with pytest.raises(ValueError, match="coupling"):
        loaded.fit(views)
    refitted = loaded.set_params(coupling=ScaledCoupling(2.0)).fit(views)
    assert refitted.objective_ == model.objective_


def test_objects_of_built_in_classes_are_saved(tmp_path, recwarn):
    views, _ = many_subspaces(100)
    model = viewspan.CLRSC(5, datafit=Frobenius(1.5), coupling=NuclearCoupling(), random_state=0)
    loaded = reloaded(model.fit(views), tmp_path)
    assert not [warning for warning in recwarn if "is saved without" in str(warning.message)]
    assert loaded.datafit == Frobenius(1.5)
    assert loaded.coupling == NuclearCoupling()
    np.testing.assert_array_equal(loaded.predict(views), model.labels_)
    assert loaded.fit(views).objective_ == model.objective_


@pytest.mark.parametrize(
    "axes",
    [{"coupling": ScaledCoupling(2.0)}, {"datafit": Frobenius(1.5)}],
    ids=["foreign", "built-in"],
)
def test_parameters_may_be_objects(axes):
    """Clone, get_params, set_params and repr work as for other parameters."""
    [(name, value)] = axes.items()
    model = viewspan.CLRSC(5, **axes)
    assert model.get_params()[name] is value
    assert clone(model).get_params()[name] == value
    assert viewspan.CLRSC(5).set_params(**axes).get_params()[name] is value
    assert f"{name}={value!r}" in repr(model)


def repack(path, change):
    """Change the parts of a saved model and compute its checksums again."""
    parts = archive.read_parts(path)
    change(parts)
    parts.pop(archive.SUMS, None)
    lines = [f"{sha256(part).hexdigest()}  {name}\n" for name, part in parts.items()]
    write_archive(path, parts | {archive.SUMS: "".join(lines).encode()})


def write_archive(path, parts):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, part in parts.items():
            file.writestr(name, part)


def in_description(change):
    """Return a change of the parts that applies a change to the JSON description."""

    def change_parts(parts):
        description = json.loads(parts[archive.DESCRIPTION])
        change(description)
        parts[archive.DESCRIPTION] = json.dumps(description).encode()

    return change_parts


def in_tree(change):
    """Return a change of the parts that applies a change to the tree of the model."""
    return in_description(lambda description: change(description["model"]))


def with_parameter(name, node):
    return in_tree(lambda tree: tree["parameters"].update({name: node}))


def with_input(name, node):
    return in_tree(lambda tree: tree["inputs"].update({name: node}))


def without_input(name):
    return in_tree(lambda tree: tree["inputs"].pop(name))


def with_labels(node):
    return in_tree(lambda tree: tree["state"]["state"].update(labels=node))


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
    assert description["version"] == 2
    assert set(description["model"]) == {
        *("estimator", "parameters", "inputs", "output", "state"),
    }
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
        assert np.load(path, allow_pickle=False).dtype.kind in archive.ARRAY_KINDS


def test_saving_a_loaded_model_gives_the_same_bytes(saved):
    assert viewspan.io.models.as_bytes(viewspan.load(saved)) == saved.read_bytes()


def test_files_without_a_field_that_was_added_later_are_read(saved, monkeypatch):
    """A field of a later release gets the value that earlier files mean."""
    wanted = schema.RECORDS["graph settings"]
    later = replace(wanted, added={"mutual": False})
    _, tree, arrays = archive.unpack(saved)
    del tree["state"]["state"]["graph_settings"]["graph settings"]["mutual"]
    saved.write_bytes(archive.pack(tree, arrays))
    with pytest.raises(ValueError, match="its graph settings is not made of"):
        viewspan.load(saved)
    monkeypatch.setitem(schema.RECORDS, "graph settings", later)
    assert viewspan.load(saved).fitted_state_.graph_settings.mutual is False


def test_arrays_that_are_shared_are_stored_once(saved):
    state = viewspan.load(saved).fitted_state_
    assert state.results[0].left is state.reduction.left
    assert state.labels is state.partition.labels


def test_parameters_of_all_types(tmp_path):
    views, _ = many_subspaces(100)
    frames = {
        "a": pd.DataFrame(views[0]).add_prefix("x"),
        "b": pd.DataFrame(views[1]).add_prefix("y"),
    }
    generator = np.random.RandomState(3)
    model = viewspan.CLRSC(np.int64(5), random_state=generator, view_weights=[1, 2.5])
    model.fit(frames)
    model.set_params(tau=np.inf, lam=np.array([1.0, 2.0]))
    loaded = reloaded(model, tmp_path)
    assert (loaded.n_clusters, loaded.tau, loaded.view_weights) == (5, np.inf, [1, 2.5])
    assert isinstance(loaded.n_clusters, np.int64)
    assert loaded.random_state.randint(1000) == generator.randint(1000)
    for found, wanted in zip(loaded.feature_names_in_, model.feature_names_in_, strict=True):
        assert found.dtype == object
        assert list(found) == list(wanted)
    np.testing.assert_array_equal(loaded.transform(frames), model.transform(frames))


def test_the_output_container_is_kept(tmp_path):
    views, _ = many_subspaces(100)
    model = viewspan.LRR(5, random_state=0).set_output(transform="pandas").fit(views)
    loaded = reloaded(model, tmp_path)
    pd.testing.assert_frame_equal(loaded.transform(views), model.transform(views))


def test_a_parameter_that_cannot_be_saved_raises(tmp_path):
    views, _ = many_subspaces(100)
    model = viewspan.LRR(5, random_state=0).fit(views)
    model.lam = pd.Series([1.0, 2.0])
    with pytest.raises(
        TypeError, match="Series, which cannot be saved: give parameters as numbers"
    ):
        viewspan.save(model, tmp_path / "model")
    assert not (tmp_path / "model").exists()


def test_a_changed_byte_raises_or_changes_nothing(written, tmp_path):
    """Some bytes of a zip archive, such as the operating system of its writer, are not read."""
    n_raised = 0
    for place in np.linspace(0, len(written) - 1, 60).astype(int):
        (tmp_path / "model").write_bytes(
            written[:place] + bytes([written[place] ^ 0xFF]) + written[place + 1 :]
        )
        try:
            model = viewspan.load(tmp_path / "model")
        except ValueError:
            n_raised += 1
        else:
            assert viewspan.io.models.as_bytes(model) == written
    assert n_raised >= 55


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5, 0.99])
def test_a_truncated_file_raises(share, saved):
    saved.write_bytes(saved.read_bytes()[: int(share * saved.stat().st_size)])
    with pytest.raises(ValueError, match="is not a model that viewspan saved"):
        viewspan.load(saved)


def test_changed_numbers_raise(saved):
    parts = archive.read_parts(saved)
    parts["arrays/0.npy"] = parts["arrays/0.npy"][:-1] + b"\x7f"
    write_archive(saved, parts)
    with pytest.raises(
        ValueError, match=r"'arrays/0.npy' is missing or does not match its checksum"
    ):
        viewspan.load(saved)


def test_a_missing_part_raises(saved):
    parts = archive.read_parts(saved)
    del parts["arrays/1.npy"]
    write_archive(saved, parts)
    with pytest.raises(
        ValueError, match=r"'arrays/1.npy' is missing or does not match its checksum"
    ):
        viewspan.load(saved)


def npy(array, **header):
    """Return an array in numpy's format; given fields of the header replace the true ones."""
    buffer = io.BytesIO()
    true = {"descr": array.dtype.str, "fortran_order": False, "shape": array.shape}
    np.lib.format.write_array_header_1_0(buffer, true | header)
    return buffer.getvalue() + array.tobytes()


def with_array(content):
    return lambda parts: parts.update({"arrays/0.npy": content})


def pickled(parts):
    buffer = io.BytesIO()
    np.save(buffer, np.array([Intruder()], dtype=object), allow_pickle=True)
    parts["arrays/0.npy"] = buffer.getvalue()


class Intruder:
    def __reduce__(self):
        return os.mkdir, ("intruded",)


def out_of_bounds(parts):
    """Replace all integers, such as the indices of sparse graphs, by a large one."""
    for name in [name for name in parts if name.endswith(".npy")]:
        array = archive.from_npy(parts[name])
        if array.dtype.kind == "i":
            parts[name] = archive.as_npy(np.full_like(array, 2**30))


BAD_NODES = [
    ({"KMeans": {}}, "it asks for 'KMeans', which no model of viewspan needs"),
    ({"os.system": ["true"]}, "it asks for 'os.system'"),
    ({"Columns": {}}, "it asks for 'Columns'"),
    ({"array": 10**6}, "damaged"),
    ({"array": -1}, "-1 is not an int of at least 0"),
    ({"array": True}, "True is not an int of at least 0"),
    ({"again": 10**6}, "damaged"),
    ({"array": 0, "tuple": []}, "damaged"),
    ({}, "damaged"),
    ({"texts": [["a"], [10**12]]}, "damaged"),
    ({"texts": [[1], [1]]}, "holds something else"),
    ({"float": "1e5"}, "is no number"),
    ({"spectrum": {"values": 1}}, "its spectrum is not made of values, right"),
    ([1, 2], "its parts have different sizes"),
]
HOSTILE_CHANGES = [
    *[(with_labels(node), message) for node, message in BAD_NODES],
    *[(with_parameter("lam", node), message) for node, message in BAD_NODES[:3]],
    *[(with_input("n_views_in_", node), message) for node, message in BAD_NODES[:3]],
    (with_parameter("lam", {"RandomState": {"tuple": ["MT19937", [1], 1, 0, 0.0]}}), "damaged"),
    (with_parameter("predict", 1), "LRR has no parameter 'predict'"),
    (with_parameter("__class__", 1), "LRR has no parameter '__class__'"),
    (with_parameter("coupling", 1), "LRR has no parameter 'coupling'"),
    (without_input("n_views_in_"), "it does not say which views it was fitted to"),
    (without_input("n_features_in_"), "it does not say which views it was fitted to"),
    (with_input("labels_", 1), "it does not say which views it was fitted to"),
    (with_input("__class__", 1), "it does not say which views it was fitted to"),
    (in_tree(lambda tree: tree.update(estimator="KMeans")), "damaged"),
    (in_tree(lambda tree: tree.update(estimator=["LRR"])), "damaged"),
    (in_tree(lambda tree: tree.update(parameters=[])), "damaged"),
    (in_tree(lambda tree: tree.update(inputs=None)), "damaged"),
    (in_tree(lambda tree: tree.update(state=None)), "damaged"),
    (in_tree(lambda tree: tree.update(state={"preparation": {"treatments": []}})), "damaged"),
    (in_tree(lambda tree: tree.update(other=1)), "it holds no model"),
    (in_tree(lambda tree: tree.pop("inputs")), "it holds no model"),
    (
        in_tree(lambda tree: tree["state"]["state"].update(other=1)),
        "its state is not made of preparation",
    ),
    (
        in_tree(lambda tree: tree["state"]["state"].pop("confidence")),
        "its state is not made of preparation",
    ),
    (out_of_bounds, "a sparse array points outside of itself"),
    (pickled, "an array of type object"),
    (with_array(npy(np.zeros(3), shape=(10**12,))), "not have the size that its header says"),
    (with_array(npy(np.zeros(3), shape=(-3,))), "damaged"),
    (with_array(npy(np.zeros(3), shape=(-1, -3))), "not have the size that its header says"),
    (with_array(npy(np.zeros(3, dtype=[("a", "f8")]))), "damaged"),
    (with_array(b"x"), "damaged"),
    (
        in_description(lambda description: description.update(version=3)),
        "has version 3 of the format.* fit the model again",
    ),
    (
        in_description(lambda description: description.update(format="other")),
        "is not a model that viewspan saved",
    ),
    (in_description(lambda description: description.update(model=[3])), "it holds no model"),
    (in_description(lambda description: description.update(version=1)), "it holds no model"),
    (lambda parts: parts.update({"model.json": b"[" * 100_000}), "damaged"),
    (lambda parts: parts.update({"model.json": b"{"}), "damaged"),
    (lambda parts: parts.pop("model.json"), "damaged"),
    (
        lambda parts: parts.update({"arrays/9999.npy": bytes(200_000_000)}),
        "content of 2.* is more than the memory can hold, or more than 200 times the size",
    ),
    (
        lambda parts: parts.update({"../outside.npy": b""}),
        "it has a part '../outside.npy', which models do not have",
    ),
    (
        lambda parts: parts.update({"schema.json": b"{}"}),
        "a model of an older viewspan.* Fit again",
    ),
]


@pytest.mark.parametrize(("change", "message"), HOSTILE_CHANGES)
def test_hostile_models_raise_and_nothing_is_executed(
    change, message, saved, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    repack(saved, change)
    with pytest.raises(ValueError, match=message) as caught:
        viewspan.load(saved)
    assert str(caught.value).startswith(str(saved))
    assert str(caught.value).endswith(".")
    assert not (tmp_path / "intruded").exists()


def test_another_compression_method_raises(saved):
    parts = archive.read_parts(saved)
    with zipfile.ZipFile(saved, "w", zipfile.ZIP_LZMA) as file:
        for name, part in parts.items():
            file.writestr(name, part)
    with pytest.raises(ValueError, match="its compression method is not the one of models"):
        viewspan.load(saved)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_two_parts_with_the_same_name_raise(saved):
    with zipfile.ZipFile(saved, "a") as file:
        file.writestr("arrays/0.npy", b"")
    with pytest.raises(ValueError, match="two of its parts have the same name"):
        viewspan.load(saved)


def test_a_model_that_does_not_fit_in_memory_raises(saved, monkeypatch):
    monkeypatch.setattr(memory, "available", lambda: 1000)
    with pytest.raises(ValueError, match="is more than the memory can hold"):
        viewspan.load(saved)


def test_files_that_are_not_archives_raise(tmp_path):
    with pytest.raises(FileNotFoundError):
        viewspan.load(tmp_path / "nothing")
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe", tmp_path):
        with pytest.raises(ValueError, match="is not a file"):
            viewspan.load(path)
    (tmp_path / "text").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match="is not a model that viewspan saved"):
        viewspan.load(tmp_path / "text")
