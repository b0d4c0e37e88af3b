# SPDX-License-Identifier: Apache-2.0
"""What `weft data make arc` writes, read by numpy as the published program's layout is described.

    python3 arc_arrays_test.py WEFT

Every board is made again here, from the task and the name of its form: turned by numpy, in other
colours, on a canvas of 30 x 30 with a line of ends. Exits 77 without numpy.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: numpy is needed: {missing}")
    sys.exit(77)

SIDE = 30
FORMS = 25
TURNS = [lambda g: g, np.rot90, lambda g: np.rot90(g, 2), lambda g: np.rot90(g, 3), np.fliplr, np.flipud,
         np.transpose, lambda g: np.fliplr(np.rot90(g))]


def canvas(grid, row, column):
    out = np.zeros((SIDE, SIDE), int)
    rows, columns = grid.shape
    out[row:row + rows, column:column + columns] = grid + 2
    if row + rows < SIDE:
        out[row + rows, column:column + columns] = 1
    if column + columns < SIDE:
        out[row:row + rows, column + columns] = 1
    return out.flatten()


def place(board):
    cells = board.reshape(SIDE, SIDE) >= 2
    return int(np.argmax(cells.any(1))), int(np.argmax(cells.any(0)))


def check_part(folder, tasks, pairs_of, moves):
    told = json.loads((folder / "dataset.json").read_text())
    names = json.loads((folder.parent / "identifiers.json").read_text())
    arrays = {name: np.load(folder / f"all__{name}.npy", mmap_mode="r")
              for name in ("inputs", "labels", "puzzle_identifiers", "puzzle_indices", "group_indices")}
    assert told["num_puzzle_identifiers"] == len(names) and names[0] == "<blank>", told
    assert told["vocab_size"] == 12 and told["seq_len"] == SIDE * SIDE, told
    assert arrays["puzzle_indices"].dtype == np.int32
    groups = arrays["group_indices"]
    assert told["total_groups"] == len(groups) - 1 and told["total_puzzles"] == groups[-1]
    assert told["mean_puzzle_examples"] == len(arrays["inputs"]) / groups[-1]
    moved = seen = 0
    for first, end in zip(groups, groups[1:]):
        forms = set()
        for puzzle in range(first, end):
            name, *form = names[arrays["puzzle_identifiers"][puzzle]].split("|||")
            turn = int(form[0][1:]) if form else 0
            colours = np.array([int(c) for c in form[1]]) if form else np.arange(10)
            assert sorted(colours) == list(range(10)) and colours[0] == 0, form
            forms.add((turn, tuple(colours)))
            pairs = pairs_of(tasks[name])
            begin, behind = arrays["puzzle_indices"][puzzle:puzzle + 2]
            assert behind - begin == len(pairs), name
            stays = 0
            for board, pair in zip(range(begin, behind), pairs):
                # Pads are no colours, so that ends alone say where a black corner is: the input's.
                grids = [TURNS[turn](colours[np.array(pair[key])]) for key in ("input", "output")]
                at = place(arrays["inputs"][board])
                assert (arrays["inputs"][board] == canvas(grids[0], *at)).all(), (name, form)
                assert (arrays["labels"][board] == canvas(grids[1], *at)).all(), (name, form)
                stays += at == (0, 0)
                moved += at != (0, 0)
                seen += 1
            assert stays >= (1 if moves else len(pairs)), name
        assert len(forms) == end - first
    assert seen == len(arrays["inputs"]) and (moved > 0) == moves
    print(folder.name, seen, "boards of", len(groups) - 1, "tasks,", moved, "moved")
    return names


def main():
    weft = sys.argv[1]
    tasks = {"swap": {"train": [{"input": [[1, 2, 0]], "output": [[2, 1, 0]]},
                                {"input": [[2], [0]], "output": [[1], [0]]}],
                      "test": [{"input": [[1, 1], [0, 2]], "output": [[2, 2], [0, 1]]}]},
             "grow": {"train": [{"input": [[3, 0], [0, 4]], "output": [[3, 0, 5], [0, 4, 5]]}],
                      "test": [{"input": [[7] * 30] * 30, "output": [[8] * 30] * 30},
                               {"input": [[6]], "output": [[6, 5]]}]}}
    with tempfile.TemporaryDirectory() as name:
        work = pathlib.Path(name)
        (work / "tasks").mkdir()
        for task, content in tasks.items():
            (work / "tasks" / f"{task}.json").write_text(json.dumps(content))
        run = subprocess.run([weft, "data", "make", "arc", work / "set", "--from", work / "tasks",
                              "--augmentations", str(FORMS), "--json"],
                             capture_output=True, text=True, check=False, timeout=300)
        assert run.returncode == 0, run.stderr
        names = check_part(work / "set" / "train", tasks, lambda t: t["train"], True)
        check_part(work / "set" / "test", tasks, lambda t: t["test"], False)
        assert names == sorted(names, key=lambda n: (n != "<blank>", n.split("|||")[0])), "by task"
        said = json.loads(run.stdout)
        assert said["identifiers"] == len(names) and said["train_samples"] > 0, said
    print("PASSED")


main()
