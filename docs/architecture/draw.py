"""Draw the import graph of the rooms: ``python docs/architecture/draw.py`` writes import-graph.svg.

The picture is a matrix. Rooms stand in the order of the layers in pyproject.toml, highest first. A
number is how many modules of the room on the left import the room above. All numbers lie to the
right of the diagonal, because no room imports a higher one.
"""

import tomllib
from collections import Counter
from pathlib import Path

import grimp
import matplotlib.pyplot as plt

FOLDER = Path(__file__).parent
ROOT = FOLDER.parents[1]
SHADES = plt.get_cmap("Blues")
DARKEST = 40
"""Number of imports with the darkest shade."""


def rooms_in_order() -> list[str]:
    """Return the rooms from the highest layer to the lowest."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    return [room for layer in layers for room in layer.split(" | ") if room != "_version"]


def room_of(module: str) -> str:
    """Return the room of a module."""
    return [*module.split("."), ""][1]


def imports_between_rooms() -> tuple[Counter[tuple[str, str]], Counter[str]]:
    """Return the number of imports between rooms, and the number of modules in each."""
    graph = grimp.build_graph("viewspan", exclude_type_checking_imports=True)
    edges: Counter[tuple[str, str]] = Counter()
    for importer in graph.modules:
        for imported in graph.find_modules_directly_imported_by(importer):
            edges[room_of(importer), room_of(imported)] += 1
    return edges, Counter(room_of(module) for module in graph.modules)


def draw() -> None:
    """Write the picture."""
    plt.rcParams["svg.hashsalt"] = "viewspan"
    rooms = rooms_in_order()
    edges, sizes = imports_between_rooms()
    figure, axes = plt.subplots(figsize=(7.6, 6.6), layout="constrained")
    for row, importer in enumerate(rooms):
        axes.add_patch(plt.Rectangle((row, row), 1, 1, fc="#d9d9d9", ec="white"))
        for column, imported in enumerate(rooms):
            count = edges[importer, imported]
            if count and row != column:
                shade = 0.15 + 0.75 * min(count / DARKEST, 1.0)
                axes.add_patch(plt.Rectangle((column, row), 1, 1, fc=SHADES(shade), ec="white"))
                axes.text(
                    column + 0.5,
                    row + 0.52,
                    str(count),
                    ha="center",
                    va="center",
                    fontsize=9,
                    color="white" if shade > 0.6 else "black",
                )
    ticks = [position + 0.5 for position in range(len(rooms))]
    modules = [f"{room} ({sizes[room]})" for room in rooms]
    axes.set(xlim=(0, len(rooms)), ylim=(len(rooms), 0), aspect="equal")
    axes.set_xticks(ticks, rooms, rotation=60, ha="left", rotation_mode="anchor")
    axes.set_yticks(ticks, modules)
    axes.xaxis.tick_top()
    axes.tick_params(length=0)
    axes.set_ylabel("this room (number of modules) imports …")
    axes.set_title("… modules of this room", fontsize=10)
    for spine in axes.spines.values():
        spine.set_visible(False)
    figure.savefig(FOLDER / "import-graph.svg", metadata={"Date": None})


if __name__ == "__main__":
    draw()
