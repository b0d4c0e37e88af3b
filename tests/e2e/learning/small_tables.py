# SPDX-License-Identifier: Apache-2.0
"""The plainest configuration (data, targets, type of the model) beside scikit-learn's default MLP.

    python3 small_tables.py WEFT [FOLDER]     # needs scikit-learn (Debian: python3-sklearn)

Five seeds on five data sets that come with scikit-learn; the same splits for both, inputs and the
target of the regression standardised for both. Prints means and standard deviations over the seeds;
exits 1 where ours is worse by more than one standard deviation of theirs, 77 without scikit-learn.
"""
import csv
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import warnings

try:
    from sklearn import datasets
    from sklearn.metrics import accuracy_score, mean_squared_error
    from sklearn.model_selection import train_test_split
    from sklearn.neural_network import MLPClassifier, MLPRegressor
    from sklearn.preprocessing import StandardScaler
except ImportError:
    print("SKIPPED: scikit-learn is not installed")
    sys.exit(77)

SEEDS = range(5)
SETS = ["iris", "wine", "breast_cancer", "digits", "diabetes"]


def split_of(name, seed):
    """Standardised training and test samples, and whether the target is a number."""
    data = getattr(datasets, "load_" + name)()
    regression = name == "diabetes"
    train_x, test_x, train_y, test_y = train_test_split(
        data.data, data.target, test_size=0.25, random_state=seed,
        stratify=None if regression else data.target)
    scale = StandardScaler().fit(train_x)
    if regression:
        mean, deviation = train_y.mean(), train_y.std()
        train_y, test_y = (train_y - mean) / deviation, (test_y - mean) / deviation
    return scale.transform(train_x), train_y, scale.transform(test_x), test_y, regression


def write_csv(path, rows, targets, regression):
    with open(path, "w", newline="") as file:
        out = csv.writer(file)
        out.writerow([f"x{i}" for i in range(rows.shape[1])] + ["y"])
        for row, target in zip(rows, targets):
            out.writerow([f"{value:.7g}" for value in row]
                         + [f"{target:.7g}" if regression else f"class {target}"])
    return str(path)


def ours(weft, folder, seed, train_x, train_y, test_x, test_y, regression):
    def source(name, rows, targets):
        path = write_csv(folder / f"{name}.csv", rows, targets, regression)
        return {"type": "csv", "path": path, "targets": ["y"]}

    config = {"seed": seed, "model": {"type": "mlp"},
              "data": {"train": source("train", train_x, train_y),
                       "test": source("test", test_x, test_y)}}
    (folder / "config.json").write_text(json.dumps(config))
    run = subprocess.run([weft, "train", folder / "config.json", "--run-dir", folder / "run",
                          "--events"], capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(run.stderr)
    events = [json.loads(line) for line in run.stdout.splitlines()]
    test = [event for event in events if event["event"] == "finished"][-1]["test"]
    return test["test/loss" if regression else "test/accuracy"]


def theirs(seed, train_x, train_y, test_x, test_y, regression):
    model = (MLPRegressor if regression else MLPClassifier)(random_state=seed)
    predicted = model.fit(train_x, train_y).predict(test_x)
    return (mean_squared_error if regression else accuracy_score)(test_y, predicted)


def main():
    warnings.filterwarnings("ignore")  # their 200 epochs are not enough for them
    weft = sys.argv[1]
    folder = pathlib.Path(sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp())
    worse = False
    for name in SETS:
        a, b = [], []
        for seed in SEEDS:
            part = split_of(name, seed)
            place = folder / f"{name}-{seed}"
            os.makedirs(place, exist_ok=True)
            a.append(ours(weft, place, seed, *part))
            b.append(theirs(seed, *part))
        mean, reference = statistics.mean(a), statistics.mean(b)
        margin = statistics.stdev(b)
        regression = name == "diabetes"
        bad = mean > reference + margin if regression else mean < reference - margin
        worse = worse or bad
        print(f"{name:14s} {'MSE' if regression else 'accuracy':8s}  weft {mean:.3f} "
              f"± {statistics.stdev(a):.3f}  scikit-learn {reference:.3f} ± {margin:.3f}"
              f"{'  WORSE' if bad else ''}", flush=True)
    return 1 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
