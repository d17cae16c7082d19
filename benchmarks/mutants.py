"""Mutation testing: change the code in one place, and see whether a test notices.

python benchmarks/mutants.py run [--only PATTERN] [--part 0/2] [--most SECONDS]    # goes on where it stopped
python benchmarks/mutants.py again [--most SECONDS]                                # only those that survived
python benchmarks/mutants.py report                                                # figures, and every survivor

The changes are those of mutmut, which has to be installed; it leaves properties out, and here they are changed like
other methods. All tests are collected once. Every mutant is a fork in which the code of one function is exchanged;
the tests that reach the changed statement run, fastest first, until one fails. A test that takes twenty times its usual
CPU time has noticed, too.
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
FOLDERS = ("model", "solvers", "graph")
TESTS = [
    *(
        "tests/model",
        "tests/solvers",
        "tests/graph",
        "tests/test_reduction.py",
        "tests/test_outliers.py",
    ),
    *("tests/test_selection.py", "tests/test_regularization_path.py", "tests/test_subspaces.py"),
    *("tests/estimators/test_axes.py", "tests/estimators/test_missing.py"),
    *("tests/estimators/test_confidence.py", "tests/estimators/test_callbacks.py"),
    *("tests/estimators/test_scalable.py", "tests/estimators/test_representation.py"),
]
FOLDER = Path(os.environ.get("VIEWSPAN_MUTANTS", ROOT / "mutants"))
SLOW = 1.0
"""Tests that take more CPU seconds are left out."""
SLOWDOWN, GRACE = 20.0, 2.0
"""A test has so many times its usual CPU time, and so many seconds."""
MEMORY = 3 * 2**30
KILLED, TIMED_OUT, SURVIVED, UNTESTED = "killed", "timed out", "survived", "no test"


class Mutant(NamedTuple):
    """One change: the function's text before and after, and the lines of the statement that differs."""

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
    """Of all files, in order; kept, because making them takes half a minute."""
    for folder in FOLDERS:
        for path in sorted((SOURCE / "viewspan" / folder).glob("*.py")):
            kept = FOLDER / f"{folder}-{path.stem}-{zlib.crc32(path.read_bytes())}.json"
            if not kept.exists():
                kept.write_text(json.dumps([*made(path)]))
            yield from (Mutant(*row) for row in json.loads(kept.read_text()))


def made(path: Path) -> Iterator[Mutant]:
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
    """Functions and methods with their names, of either kind of tree."""
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
    """The lines of the smallest statement around one."""
    spans = [
        list(range(node.lineno, (node.end_lineno or node.lineno) + 1))
        for node in ast.walk(tree)
        if isinstance(node, ast.stmt) and node.lineno <= line <= (node.end_lineno or 0)
    ]
    return min(spans, key=len)


def exchange(mutant: Mutant) -> None:
    """Give the function its other code, wherever it has been imported to."""
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


class Usual(NamedTuple):
    """What a test does when nothing is changed."""

    passed: bool
    seconds: float
    lines: dict[str, list[int]]


class Session:
    """Takes the place of pytest's loop over tests."""

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

    def usual(self) -> dict[str, Usual]:
        """Of every test, from a file where it is known."""
        path = FOLDER / "tests.json"
        known = json.loads(path.read_text()) if path.exists() else {}
        for name in self.items:
            if name not in known:
                print(name, flush=True)
                known[name] = in_fork(lambda name=name: self._measured(name)) or (False, 0.0, {})
                path.write_text(json.dumps(known))
        return {name: Usual(*known[name]) for name in self.items}

    def _measured(self, name: str) -> Usual:
        before = time.process_time()
        passed = self.passes(name)
        seconds = time.process_time() - before
        return Usual(
            passed, seconds, lines_reached(lambda: self.passes(name)) if seconds < SLOW else {}
        )

    def verdict(self, mutant: Mutant, tests: list[tuple[str, float]]) -> tuple[str, str]:
        """What became of it, and the test that noticed."""
        if not tests:
            return UNTESTED, ""
        limit_memory()
        exchange(mutant)
        for name, seconds in tests:
            signal.setitimer(signal.ITIMER_PROF, SLOWDOWN * seconds + GRACE)
            if not self.passes(name):
                return KILLED, name
        return SURVIVED, ""


def limit_memory() -> None:
    pages = int(Path("/proc/self/statm").read_text().split()[0])
    size = pages * resource.getpagesize() + MEMORY
    resource.setrlimit(resource.RLIMIT_AS, (size, size))


def lines_reached(function: Callable[[], object]) -> dict[str, list[int]]:
    """Of the modules that are mutated."""
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
    """What a function gives back in another process; None if that did not live so long."""
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
    usual = session.usual()
    broken = [name for name, test in usual.items() if not test.passed]
    if broken:
        sys.exit(f"These tests fail without any change: {broken}")
    known = verdicts()
    again = arguments.command == "again"
    wanted = [m for m in mutants() if fnmatch(m.name, arguments.only)]
    wanted = [
        m
        for m in wanted
        if (known.get(key(m), [""])[0] in (SURVIVED, UNTESTED) if again else key(m) not in known)
    ]
    part, parts = map(int, arguments.part.split("/"))
    gc.collect()
    gc.freeze()  # so that forks share what is there
    with (FOLDER / f"verdicts-{part}.jsonl").open("a") as file:
        for index, mutant in enumerate(wanted[part::parts]):
            start = cpu()
            tests = tests_for(mutant, usual, arguments.most)
            found = in_fork(lambda m=mutant, t=tests: session.verdict(m, t)) or (TIMED_OUT, "")
            seconds = round(cpu() - start, 2)
            file.write(json.dumps([key(mutant), *found, seconds, len(tests)]) + "\n")
            file.flush()
            print(
                f"{index + 1}/{len(wanted[part::parts])} {mutant.name} {found[0]} {seconds}",
                flush=True,
            )


def cpu() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def key(mutant: Mutant) -> str:
    """A name that changes with the code."""
    return f"{mutant.name}\n{mutant.difference}"


def tests_for(mutant: Mutant, usual: dict[str, Usual], most: float) -> list[tuple[str, float]]:
    """Those that reach it, fastest first, as many as take so many seconds together."""
    lines = set(mutant.lines)
    found = [
        (n, t.seconds)
        for n, t in usual.items()
        if t.seconds < SLOW and lines & set(t.lines.get(mutant.module, ()))
    ]
    chosen, total = [], 0.0
    for name, seconds in sorted(found, key=lambda test: test[1]):
        total += seconds
        if total > most and chosen:
            break
        chosen.append((name, seconds))
    return chosen


def verdicts() -> dict[str, list[Any]]:
    """The last one of every mutant."""
    rows = [
        json.loads(line) for path in sorted(FOLDER.glob("verdicts-*.jsonl")) for line in path.open()
    ]
    found: dict[str, list[Any]] = {}
    for name, *rest in rows:
        if found.get(name, [SURVIVED])[0] in (
            SURVIVED,
            UNTESTED,
        ):  # what was noticed once stays noticed
            found[name] = rest
    return found


def report() -> None:
    known, counts, alive = verdicts(), defaultdict(Counter), []
    for mutant in mutants():
        status = known.get(key(mutant), ["not yet tried"])[0]
        folder = mutant.module.split(".")[1]
        for group in (mutant.module, folder, "all"):
            counts[group][status] += 1
        if status in (SURVIVED, UNTESTED):
            alive.append(mutant)
    for mutant in alive:
        print(f"{mutant.name} ({mutant.lines[0]})\n{textwrap.indent(mutant.difference, '    ')}")
    for group, statuses in counts.items():
        caught = statuses[KILLED] + statuses[TIMED_OUT]
        print(
            f"{group}: {statuses.total()} mutants, {caught / statuses.total():.1%} noticed, {dict(statuses)}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("command", choices=["run", "again", "report"])
    parser.add_argument(
        "--only", default="*", help="a pattern of names, viewspan.objective.* for example"
    )
    parser.add_argument("--part", default="0/1", help="of several processes, this one")
    parser.add_argument(
        "--most", type=float, default=5.0, help="CPU seconds that a survivor's tests may take"
    )
    arguments = parser.parse_args()
    FOLDER.mkdir(exist_ok=True)
    if arguments.command == "report":
        return report()
    os.chdir(ROOT)
    sys.path[:0] = [str(ROOT)]
    plugin = Session(lambda session: run(session, arguments))
    sys.exit(
        pytest.main(
            [
                "-q",
                "-p",
                "no:xdist",
                "-p",
                "no:cacheprovider",
                "--capture=no",
                "--tb=native",
                *TESTS,
            ],
            plugins=[plugin],
        )
    )


if __name__ == "__main__":
    main()
