"""scikit-learn's callbacks (from 1.9 on) see a fit as a tree of tasks."""

import io
from collections import Counter

import numpy as np
import pytest
import sklearn
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score, make_scorer
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.fixes import parse_version

import viewspan
from tests.problems import two_subspaces

VIEWS, LABELS = two_subspaces()
ORDER = np.random.default_rng(0).permutation(30)
VIEWS, LABELS = [view[ORDER] for view in VIEWS], LABELS[ORDER]
ESTIMATORS = [viewspan.CLRSC, viewspan.LRR, viewspan.SSC, viewspan.MLAP]

needs_callbacks = pytest.mark.skipif(
    parse_version(sklearn.__version__) < parse_version("1.9"), reason="no callbacks before 1.9"
)
all_estimators = pytest.mark.parametrize("build", ESTIMATORS, ids=lambda build: build.__name__)


class Recorder:
    """A callback that records all of its calls."""

    max_propagation_depth = None

    def __init__(self):
        self.begun, self.ended, self.metadata, self.calls = [], [], [], Counter()

    def setup(self, estimator, context):
        self.calls["setup"] += 1

    def teardown(self, estimator, context):
        self.calls["teardown"] += 1

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context)

    def on_fit_task_end(self, estimator, context, *, metadata=None, fitted_estimator=None):
        self.ended.append(context)
        if context.task_name == "check":
            self.metadata.append(metadata)
        if context.task_name == "fit" and fitted_estimator is not None:
            self.fitted = fitted_estimator


def names(contexts):
    return [context.task_name for context in contexts]


def test_estimators_work_without_callbacks():
    has_callbacks = parse_version(sklearn.__version__) >= parse_version("1.9")
    assert (
        hasattr(viewspan.CLRSC(), "set_callbacks")
        is hasattr(viewspan.ViewSplitter([]), "set_callbacks")
        is has_callbacks
    )


@needs_callbacks
@all_estimators
def test_stages_solutions_and_checks_are_tasks(build):
    recorder = Recorder()
    model = build(2, random_state=0).set_callbacks(recorder).fit(VIEWS)
    assert recorder.calls == {"setup": 1, "teardown": 1}
    assert Counter(map(id, recorder.begun)) == Counter(map(id, recorder.ended))  # each once
    fit = recorder.begun[0]
    assert fit is recorder.ended[-1]
    assert fit.max_subtasks is None
    stages = [task for task in recorder.begun if task.parent is fit]
    assert names(stages) == ["reading", "solving", "comparing"]
    assert stages[1].max_subtasks == len(model.path_)
    solutions = [task for task in recorder.begun if task.parent is stages[1]]
    assert [task.max_subtasks for task in solutions] == [None] * len(model.path_)
    n_checks = [sum(task.parent is solution for task in recorder.begun) for solution in solutions]
    assert n_checks == [len(result.history) for result in model.path_]
    assert recorder.metadata[n_checks[0] - 1] == model.history_[-1]._asdict()
    np.testing.assert_array_equal(model.labels_, build(2, random_state=0).fit_predict(VIEWS))
    np.testing.assert_array_equal(recorder.fitted.predict(VIEWS), model.labels_)


@needs_callbacks
def test_stages_of_landmarks_and_batches_are_tasks():
    recorder = Recorder()
    model = viewspan.CLRSC(2, random_state=0, graph="landmarks", n_landmarks=10).set_callbacks(
        recorder
    )
    model.fit(VIEWS)
    stages = [task.task_name for task in recorder.begun if task.parent is recorder.begun[0]]
    assert stages[0] == "reading" and stages[-3:] == ["solving", "comparing", "labelling"]
    batches, recorder = viewspan.CLRSC(2, random_state=0), Recorder()
    batches.set_callbacks(recorder).partial_fit(VIEWS)
    assert recorder.begun == []
    assert len(batches.partial_fit().labels_) == 30
    assert names([task for task in recorder.begun if task.parent is recorder.begun[0]]) == [
        "solving",
        "comparing",
    ]
    assert recorder.calls == {"setup": 1, "teardown": 1}


@needs_callbacks
def test_samples_are_counted_in_a_hundred_parts_at_most():
    from viewspan.fit.sklearn_tasks import TaskListener

    model, recorder = viewspan.CLRSC(), Recorder()
    tasks = TaskListener(model.set_callbacks(recorder))
    tasks.begin("reading", 1000)
    for share in (0.004, 0.01, 0.5, 0.5, 1.0):
        tasks.advance(viewspan.Progress("reading", share, 0.0, None))
        assert sum(name == "reading part" for name in names(recorder.ended)) == int(100 * share)


@needs_callbacks
def test_callbacks_are_torn_down_after_an_error():
    recorder = Recorder()
    with pytest.raises(ValueError, match="NaN"):
        viewspan.CLRSC(2).set_callbacks(recorder).fit(np.full((4, 3), np.nan))
    assert recorder.calls == {"setup": 1, "teardown": 1}


@needs_callbacks
@pytest.mark.filterwarnings("error")
def test_pipelines_and_searches_pass_callbacks_on():
    """No step warns that it does not support callbacks."""
    recorder = Recorder()
    split = viewspan.ViewSplitter([slice(0, 12), slice(12, 24)])
    pipeline = make_pipeline(split, viewspan.CLRSC(2, random_state=0)).set_callbacks(recorder)
    pipeline.fit(np.hstack(VIEWS))
    estimators = [
        task.estimator_name for task in recorder.begun if task.task_name in {"fit", "solving"}
    ]
    assert estimators == ["Pipeline", "ViewSplitter", "CLRSC", "CLRSC"]
    assert Counter(map(id, recorder.begun)) == Counter(map(id, recorder.ended))
    assert recorder.calls == {"setup": 1, "teardown": 1}
    search = GridSearchCV(
        clone(pipeline).set_callbacks(),
        {"clrsc__tau": [0.0, "auto"]},
        scoring=make_scorer(adjusted_rand_score),
        cv=2,
    )
    recorder = Recorder()
    search.set_callbacks(recorder).fit(np.hstack(VIEWS), LABELS)
    assert names(recorder.begun).count("solving") == 5  # two times two, and the best again


@needs_callbacks
def test_the_progress_bar_draws_our_iterations(monkeypatch):
    pytest.importorskip("rich")
    import rich
    from rich.console import Console
    from sklearn.callback import ProgressBar

    written = io.StringIO()
    monkeypatch.setattr(rich, "_console", Console(file=written, force_terminal=True, width=100))
    viewspan.CLRSC(2, random_state=0).set_callbacks(ProgressBar()).fit(VIEWS)
    shown = written.getvalue()
    for line in (
        "CLRSC - fit",
        "CLRSC - reading #0",
        "CLRSC - solving #1",
        "CLRSC - solution #3",
        "CLRSC - comparing",
    ):
        assert line in shown
