"""Mutation testing: change the code in one place and see whether a test fails.

    python benchmarks/mutants.py run [--only PATTERN] [--part 0/2] [--most SECONDS]
    python benchmarks/mutants.py again [--most SECONDS]
    python benchmarks/mutants.py report

``run`` tries all mutants that have no verdict yet, so it can be interrupted. ``again`` retries
mutants that survived or that no test reaches, usually with more time. ``report`` prints every
survivor and the counts.

mutmut makes the mutants and has to be installed. It skips properties; here they are mutated like
other methods. All tests are collected once. Every mutant runs in a fork, in which the code of one
function is replaced. The tests that reach the changed statement run, fastest first, until one
fails. A test that exceeds twenty times its usual CPU time plus two seconds counts as failed.
"""

import argparse
import ast
import difflib
import functools
import gc
import importlib
import json
import os
import re
import resource
import signal
import sys
import textwrap
import threading
import time
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import libcst as cst
import pytest
from mutmut.mutation.file_mutation import create_mutations, deep_replace

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src"
FOLDERS = ("objective", "weights", "solvers", "graph")
"""Folders of src/viewspan that are mutated."""
TESTS = [
    *(f"tests/{folder}" for folder in FOLDERS if (ROOT / "tests" / folder).is_dir()),
    *("tests/properties/test_reduction.py", "tests/fit/test_regularization_path.py"),
    *("tests/inference/test_outliers.py", "tests/inference/test_subspaces.py"),
    "tests/inference/test_view_scores.py",
    *("tests/estimators/test_axes.py", "tests/estimators/test_missing.py"),
    *("tests/estimators/test_confidence.py", "tests/estimators/test_callbacks.py"),
    *("tests/estimators/test_incremental.py", "tests/estimators/test_notebook.py"),
]
FOLDER = Path(os.environ.get("VIEWSPAN_MUTANTS", ROOT / "mutants"))
"""Where mutants, running times of tests and verdicts are stored."""
MAX_TEST_SECONDS = 1.0
"""Tests that take more CPU seconds are skipped."""
SLOWDOWN, GRACE = 20.0, 2.0
"""A test may take this many times its usual CPU time, plus this many seconds."""
MAX_EXTRA_BYTES = 3 * 2**30
"""Memory that a mutant may use in addition to that of its parent process."""
KILLED, TIMED_OUT, SURVIVED, UNTESTED = "killed", "timed out", "survived", "no test"
UNDETECTED = (SURVIVED, UNTESTED)


class Mutant(NamedTuple):
    """One change of one function.

    Attributes
    ----------
    name : str
        Module, function and number of the change.
    module, function : str
    before, after : str
        The code of the function.
    lines : list of int
        Lines of the statement that differs.
    """

    name: str
    module: str
    function: str
    before: str
    after: str
    lines: list[int]

    @property
    def difference(self) -> str:
        changed = difflib.ndiff(self.before.splitlines(), self.after.splitlines())
        return "\n".join(line for line in changed if line[0] in "-+")


def mutants() -> Iterator[Mutant]:
    """Yield the mutants of all files; store them, because making them takes half a minute."""
    for folder in FOLDERS:
        for path in sorted((SOURCE / "viewspan" / folder).glob("*.py")):
            stored = FOLDER / f"{folder}-{path.stem}-{zlib.crc32(path.read_bytes())}.json"
            if not stored.exists():
                stored.write_text(json.dumps([*mutants_of(path)]))
            yield from (Mutant(*row) for row in json.loads(stored.read_text()))


def mutants_of(path: Path) -> Iterator[Mutant]:
    """Yield the mutants of one file."""
    name = ".".join(path.relative_to(SOURCE).with_suffix("").parts)
    code = re.sub(r"@(cached_)?property\n", "#\n", path.read_text())
    tree = ast.parse(code)
    module, changes, _, _ = create_mutations(str(path), code)
    functions = {id(node): (label, node) for label, node in functions_of(module)}
    starts = {label: node.lineno for label, node in functions_of(tree)}
    counts: Counter[str] = Counter()
    for change in changes:
        label, node = functions.get(id(change.contained_by_top_level_function), (None, None))
        if label is None:
            continue
        counts[label] += 1
        before = text_of(module, node)
        after = text_of(module, deep_replace(node, change.original_node, change.mutated_node))
        line = starts[label] + first_difference(before, after)
        yield Mutant(
            f"{name}.{label}#{counts[label]}", name, label, before, after, statement_at(tree, line)
        )


def functions_of(tree: Any) -> Iterator[tuple[str, Any]]:
    """Yield the functions and methods of a tree of libcst or ast, with their names."""
    for node in tree.body:
        if isinstance(node, cst.FunctionDef | ast.FunctionDef):
            yield name_of(node), node
        elif isinstance(node, cst.ClassDef | ast.ClassDef):
            inner = node.body.body if isinstance(node, cst.ClassDef) else node.body
            yield from (
                (f"{name_of(node)}.{name_of(m)}", m)
                for m in inner
                if hasattr(m, "params") or hasattr(m, "args")
            )


def name_of(node: Any) -> str:
    return node.name if isinstance(node.name, str) else node.name.value


def text_of(module: cst.Module, node: Any) -> str:
    bare = node.with_changes(leading_lines=[], lines_after_decorators=[], decorators=[])
    return textwrap.dedent(module.code_for_node(bare))


def first_difference(before: str, after: str) -> int:
    pairs = zip(before.splitlines(), after.splitlines(), strict=False)
    return next(index for index, (old, new) in enumerate(pairs) if old != new)


def statement_at(tree: ast.Module, line: int) -> list[int]:
    """Return the lines of the smallest statement that contains a line."""
    spans = [
        list(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return min(spans, key=len)


def apply(mutant: Mutant) -> None:
    """Replace the code of the function, wherever it has been imported."""
    module = importlib.import_module(mutant.module)
    definition = ast.parse(mutant.after)
    definition.body[0].decorator_list = []  # type: ignore[attr-defined]
    scope = dict(vars(module))
    exec(compile(definition, mutant.name, "exec"), scope)
    found: Any = module
    for part in mutant.function.split("."):
        found = vars(found)[part]
    if isinstance(found, property):
        found = found.fget
    elif isinstance(found, functools.cached_property):
        found = found.func
    elif isinstance(found, classmethod | staticmethod):
        found = found.__func__
    changed = scope[mutant.function.rpartition(".")[2]]
    found.__code__, found.__defaults__, found.__kwdefaults__ = (
        changed.__code__,
        changed.__defaults__,
        changed.__kwdefaults__,
    )


class Baseline(NamedTuple):
    """Result of a test without a mutation.

    Attributes
    ----------
    passed : bool
    seconds : float
        CPU time.
    lines : dict
        Lines of the mutated modules that the test reaches.
    """

    passed: bool
    seconds: float
    lines: dict[str, list[int]]


class Session:
    """pytest plugin that replaces the loop over tests by other work."""

    def __init__(self, work: Callable[["Session"], None]) -> None:
        self.work, self.failed, self.items = work, False, {}

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self.failed |= report.failed

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self.items = {item.nodeid: item for item in session.items}
        self.work(self)
        return True

    def passes(self, name: str) -> bool:
        self.failed = False
        item = self.items[name]
        item.ihook.pytest_runtest_protocol(item=item, nextitem=None)
        return not self.failed

    def baselines(self) -> dict[str, Baseline]:
        """Return the baseline of every test, measured once and then read from a file."""
        path = FOLDER / "tests.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        for name in self.items:
            if name not in known:
                print(name, flush=True)
                known[name] = in_fork(lambda name=name: self._measure(name)) or (False, 0.0, {})
                path.write_text(json.dumps(known))
        return {name: Baseline(*known[name]) for name in self.items}

    def _measure(self, name: str) -> Baseline:
        before = time.process_time()
        passed = self.passes(name)
        seconds = time.process_time() - before
        is_fast = seconds < MAX_TEST_SECONDS
        lines = lines_reached(lambda: self.passes(name)) if is_fast else {}
        return Baseline(passed, seconds, lines)

    def verdict(self, mutant: Mutant, tests: list[tuple[str, float]]) -> tuple[str, str]:
        """Return the verdict on a mutant and the test that killed it."""
        if not tests:
            return UNTESTED, ""
        limit_memory()
        apply(mutant)
        for name, seconds in tests:
            signal.setitimer(signal.ITIMER_PROF, SLOWDOWN * seconds + GRACE)
            if not self.passes(name):
                return KILLED, name
        return SURVIVED, ""


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MAX_EXTRA_BYTES
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def lines_reached(function: Callable[[], object]) -> dict[str, list[int]]:
    """Return the lines of the mutated modules that a function reaches."""
    reached = defaultdict(set)
    folders = tuple(str(SOURCE / "viewspan" / folder) + os.sep for folder in FOLDERS)

    def at_line(frame: FrameType, *_: object) -> Any:
        reached[frame.f_code.co_filename].add(frame.f_lineno)
        return at_line

    def at_call(frame: FrameType, *_: object) -> Any:
        return at_line(frame) if frame.f_code.co_filename.startswith(folders) else None

    threading.settrace(at_call)
    sys.settrace(at_call)
    function()
    sys.settrace(None)
    return {
        ".".join(Path(p).relative_to(SOURCE).with_suffix("").parts): sorted(found)
        for p, found in reached.items()
    }


def in_fork(function: Callable[[], Any]) -> Any:
    """Return the result of a function that runs in a fork, or None if the fork died."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reader)
        silence = os.open(os.devnull, os.O_WRONLY)
        os.dup2(silence, 1)
        os.dup2(silence, 2)
        try:
            answer = json.dumps(function())
        except BaseException as error:
            answer = json.dumps([KILLED, repr(error)[:200]])
        with os.fdopen(writer, "w") as pipe:
            pipe.write(answer)
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        answer = pipe.read()
    os.waitpid(child, 0)
    return json.loads(answer) if answer else None


def run(session: Session, arguments: argparse.Namespace) -> None:
    """Try all mutants that were requested and append their verdicts to a file."""
    baselines = session.baselines()
    broken = [name for name, test in baselines.items() if not test.passed]
    if broken:
        sys.exit(f"These tests fail without a mutation: {broken}")
    known = verdicts()
    again = arguments.command == "again"
    wanted = [m for m in mutants() if fnmatch(m.name, arguments.only)]
    wanted = [
        m
        for m in wanted
        if (known.get(key(m), [""])[0] in UNDETECTED if again else key(m) not in known)
    ]
    part, parts = map(int, arguments.part.split("/"))
    gc.collect()
    gc.freeze()  # forks then share the memory
    with (FOLDER / f"verdicts-{part}.jsonl").open("a") as file:
        for index, mutant in enumerate(wanted[part::parts]):
            start = cpu()
            tests = tests_for(mutant, baselines, arguments.most)
            found = in_fork(lambda m=mutant, t=tests: session.verdict(m, t)) or (TIMED_OUT, "")
            seconds = round(cpu() - start, 2)
            file.write(json.dumps([key(mutant), *found, seconds, len(tests)]) + "\n")
            file.flush()
            print(
                f"{index + 1}/{len(wanted[part::parts])} {mutant.name} {found[0]} {seconds}",
                flush=True,
            )


def cpu() -> float:
    """Return the CPU seconds of all child processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def key(mutant: Mutant) -> str:
    """Return a name that changes with the code."""
    return f"{mutant.name}\n{mutant.difference}"


def tests_for(
    mutant: Mutant, baselines: dict[str, Baseline], max_seconds: float
) -> list[tuple[str, float]]:
    """Return the tests that reach a mutant, fastest first, and their CPU times.

    Together they take at most ``max_seconds``, but there is always one if any test reaches it.
    """
    lines = set(mutant.lines)
    found = [
        (name, test.seconds)
        for name, test in baselines.items()
        if test.seconds < MAX_TEST_SECONDS and lines & set(test.lines.get(mutant.module, ()))
    ]
    chosen, total = [], 0.0
    for name, seconds in sorted(found, key=lambda test: test[1]):
        total += seconds
        if total > max_seconds and chosen:
            break
        chosen.append((name, seconds))
    return chosen


def verdicts() -> dict[str, list[Any]]:
    """Return the last verdict on every mutant; a mutant that was killed once stays killed."""
    rows = [
        json.loads(line) for path in sorted(FOLDER.glob("verdicts-*.jsonl")) for line in path.open()
    ]
    found: dict[str, list[Any]] = {}
    for name, *rest in rows:
        if found.get(name, [SURVIVED])[0] in UNDETECTED:
            found[name] = rest
    return found


def report() -> None:
    """Print every survivor, and the counts of every module and folder."""
    known, counts, alive = verdicts(), defaultdict(Counter), []
    for mutant in mutants():
        status = known.get(key(mutant), ["not tried"])[0]
        folder = mutant.module.split(".")[1]
        for group in (mutant.module, folder, "all"):
            counts[group][status] += 1
        if status in UNDETECTED:
            alive.append(mutant)
    for mutant in alive:
        print(f"{mutant.name} ({mutant.lines[0]})\n{textwrap.indent(mutant.difference, '    ')}")
    for group, statuses in counts.items():
        share = (statuses[KILLED] + statuses[TIMED_OUT]) / statuses.total()
        print(f"{group}: {statuses.total()} mutants, {share:.1%} killed, {dict(statuses)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["run", "again", "report"])
    parser.add_argument(
        "--only", default="*", help="pattern of names, for example viewspan.graph.*"
    )
    parser.add_argument(
        "--part", default="0/1", help="number of this process / number of processes"
    )
    parser.add_argument(
        "--most", type=float, default=5.0, help="CPU seconds for the tests of one mutant"
    )
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    if arguments.command == "report":
        return report()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT)]
    plugin = Session(lambda session: run(session, arguments))
    options = ["-q", "-p", "no:xdist", "-p", "no:cacheprovider", "--capture=no", "--tb=native"]
    sys.exit(pytest.main([*options, *TESTS], plugins=[plugin]))


if __name__ == "__main__":
    main()
