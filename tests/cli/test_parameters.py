"""The command line's tables of parameters agree with the estimators."""

from itertools import product

import pytest
from sklearn.utils._param_validation import InvalidParameterError, StrOptions

import viewspan
from tests.cli.running import run
from viewspan.cli.parameters import (
    METHODS,
    METHODS_WITH,
    PARAMETERS,
    WORDS,
    WORDS_OF_LRR,
    check_combination,
    parse_parameters,
)
from viewspan.io.readers.read import FORMATS
from viewspan.io.readers.source import EXTENSIONS, TEXT_EXTENSIONS
from viewspan.io.readers.table import InputError
from viewspan.objective.couplings import COUPLINGS
from viewspan.objective.datafits import DATAFITS
from viewspan.objective.penalties import PENALTIES

OTHER_PARAMETERS = {"n_clusters", "random_state", "verbose", "callback"}
every_method = pytest.mark.parametrize("method", METHODS)


def estimator(method):
    return getattr(viewspan, method.upper())


@every_method
def test_every_method_has_its_parameters(method):
    names = set(estimator(method)().get_params()) - OTHER_PARAMETERS
    assert names == {name for name in PARAMETERS if method in METHODS_WITH.get(name, METHODS)}


@every_method
def test_words_are_those_of_the_estimator(method):
    own = WORDS_OF_LRR if method == "lrr" else {}
    for name, words in WORDS.items():
        if method in METHODS_WITH.get(name, METHODS):
            constraints = estimator(method)._parameter_constraints[name]
            [options] = [item.options for item in constraints if isinstance(item, StrOptions)]
            assert set(own.get(name, words)) == options, name


def test_the_first_word_is_the_default():
    defaults = viewspan.CLRSC().get_params() | viewspan.LRR().get_params()
    for name, words in WORDS.items():
        assert words[0] == defaults[name]
    assert {words[0] for words in WORDS_OF_LRR.values()} == {"frobenius", "admm"}


NUMBERS = {
    "tol": (-1.0, 0.0, 1e-3, 2.0, float("inf"), float("nan")),
    "max_iter": (-1, 0, 1),
    "n_neighbors": (-1, 0, 1),
    "n_landmarks": (-1, 0, 1),
    "lam": ("-1", "0", "0.5", "inf", "nan", "auto", "automatic"),
    "tau": ("-1", "0", "0.5", "inf", "nan", "auto", "automatic"),
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in NUMBERS.items() for value in values]
)
def test_a_number_is_accepted_if_the_estimator_accepts_it(name, value):
    number = float(value) if isinstance(value, str) and not value.isalpha() else value
    if value in ("inf", "nan"):
        number = float(value)
    try:
        viewspan.CLRSC(**{name: number})._validate_params()
    except InvalidParameterError:
        with pytest.raises(InputError, match=f"--{name.replace('_', '-')} must be .* instead"):
            parse_parameters("clrsc", {name: value})
    else:
        assert parse_parameters("clrsc", {name: value}) == {name: number}


def error_of(function, *arguments):
    """Return the message of the ValueError that a function raises, or None."""
    try:
        function(*arguments)
    except ValueError as error:
        return str(error)
    return None


def test_contradictions_are_those_of_the_estimator():
    names = ("datafit", "penalty", "coupling", "solver", "missing", "graph")
    found = set()
    for values in product(*(WORDS[name] for name in names)):
        parameters = dict(zip(names, values, strict=True))
        model = viewspan.CLRSC(lam=0.5, **parameters)
        expected = error_of(lambda model=model: model._settings().check_landmarks())
        assert error_of(check_combination, parameters) == expected, parameters
        found.add(expected)
    assert None in found and len(found) > 5


@pytest.mark.parametrize("items", [DATAFITS, PENALTIES, COUPLINGS])
def test_help_says_what_every_object_is_for(items):
    text = " ".join(run("cluster", "--help").output.replace("│", " ").split())
    first_names = {}
    for name, item in items.items():
        first_names.setdefault(type(item), f"{name} for {item.purpose}")
    for words in first_names.values():
        assert words in text


def test_every_extension_has_a_reader():
    assert set(FORMATS) == set(EXTENSIONS)
    assert {name for name in FORMATS if FORMATS[name] is FORMATS[".csv"]} == set(TEXT_EXTENSIONS)
