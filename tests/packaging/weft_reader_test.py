# SPDX-License-Identifier: Apache-2.0
"""weft_reader says of real runs what `weft` and h5py say of them.

    PYTHONPATH=packaging/python python3 weft_reader_test.py WEFT     # needs numpy and h5py

Exits 77 where one of them is missing.
"""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import time
import tracemalloc
import unittest

try:
    import h5py
    import numpy as np
except ImportError as missing:
    print(f"SKIPPED: numpy and h5py are needed: {missing}")
    sys.exit(77)

import weft_reader
from weft_reader.crc32c import block_crc32c, crc32c

WEFT = ""  # the program, from the command line
MIB = 1 << 20
PATIENCE_S = 120
# Four simulated devices cut 513 columns and 30 rows into pieces of different sizes.
MESH = {"devices": "cpu:4", "strategy": "fsdp"}


def config(name, mesh, length):
    return {
        "name": name, "seed": 3, "tags": ["read"], "notes": "Of a test.",
        "data": {"train": {"type": "synthetic", "kind": "images", "shape": [9, 9, 1],
                           "classes": 7, "samples": 600}, "validation": {"split": 0.2}},
        "model": {"type": "mlp", "hidden": [513, 30]}, "mesh": mesh,
        "optimizer": {"type": "adamw", "learning_rate": 1e-3},
        "training": {"length": length, "global_batch_size": 32, "precision": "bf16",
                     "ema_decay": 0.9},
        "evaluation": {"every": {"steps": 3}},
        "checkpoint": {"every": {"steps": 4}, "keep_latest": 2, "keep_best": 1, "keep_every": 4}}


def weft(*arguments, code=0):
    run = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, check=False,
                         timeout=PATIENCE_S)
    if run.returncode != code:
        raise AssertionError(f"weft {arguments} exited with {run.returncode}: {run.stderr}")
    return run.stdout


def crc_table():
    for register in range(256):
        for _ in range(8):
            register = register >> 1 ^ (register & 1) * 0x82F63B78
        yield register


CRC_TABLE = list(crc_table())


def crc_by_definition(data):
    """Byte by byte: RFC 3720, appendix B.4."""
    register = 0xFFFFFFFF
    for byte in bytes(data):
        register = CRC_TABLE[(register ^ byte) & 255] ^ register >> 8
    return register ^ 0xFFFFFFFF


def flip(path, offset):
    with open(path, "r+b") as file:
        file.seek(offset)
        byte = file.read(1)[0]
        file.seek(offset)
        file.write(bytes([byte ^ 4]))


def read_safetensors(path):
    """By the format's description: element type, shape and bytes of each array."""
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    header = json.loads(data[8:8 + size])
    header.pop("__metadata__")
    return {name: (entry["dtype"], tuple(entry["shape"]),
                   data[8 + size:][slice(*entry["data_offsets"])])
            for name, entry in header.items()}


def cut(shape, at):
    """Uneven blocks of an array: it is cut at `at`, one place per dimension."""
    blocks = [((), ())]
    for extent, place in zip(shape, at):
        sides = [(0, place), (place, extent - place)] if place else [(0, extent)]
        blocks = [(start + (low,), count + (size,)) for start, count in blocks
                  for low, size in sides]
    return blocks


def write_checkpoint(folder, like, arrays, sums_by_mib=True):
    """A checkpoint with these arrays and the record of another, written by h5py.

    `arrays`: (values, cut places, element type) by name. Each block goes into a shard of its own
    when it is not the first of its array.
    """
    folder.mkdir(parents=True)
    root = json.loads((like / "manifest.json").read_text())
    root.update(schema_version=2, tensors=[], shards=[], mesh_axes=[["data", 4]])
    del root["committed"]
    files = {}
    for name, (values, at, stored) in arrays.items():
        pieces = []
        for number, (start, count) in enumerate(cut(values.shape, at)):
            block = np.ascontiguousarray(
                values[tuple(slice(a, a + b) for a, b in zip(start, count))])
            files.setdefault(f"arrays-{number:05}.h5", []).append(
                (f"parameters/{name}" + ("/" + ",".join(map(str, start)) if any(at) else ""),
                 block, stored, {"start": start, "count": count}))
            pieces.append(files[f"arrays-{number:05}.h5"][-1][-1])
        root["tensors"].append({"name": name, "kind": "parameters", "dtype": stored,
                                "shape": values.shape, "spec": "P()", "bytes": values.nbytes,
                                "pieces": pieces})
    for number, (file, entries) in enumerate(sorted(files.items())):
        root["shards"].append(write_shard(folder / file, entries, sums_by_mib) |
                              {"writer": number})
    body = (json.dumps(root, indent=2)[:-2] + ",\n").encode()
    seal = '  "committed": "crc32c %08x"\n}\n' % crc_by_definition(body)
    (folder / "manifest.json").write_bytes(body + seal.encode())
    return folder


def write_shard(path, entries, sums_by_mib):
    with h5py.File(path, "w") as out:
        out.attrs["format"] = "weft-checkpoint-shard"
        for name, block, stored, _ in entries:
            written = out.create_dataset(name, data=block)
            if stored in ("bf16", "f16"):
                written.attrs["dtype"] = stored
    with h5py.File(path, "r") as file:
        for name, block, _, piece in entries:
            data = block.tobytes()
            piece.update(shard=path.name, offset=file[name].id.get_offset(),
                         crc32c=crc_by_definition(data))
            if sums_by_mib and len(data) > MIB:
                piece["mib_crc32c"] = [crc_by_definition(data[at:at + MIB])
                                       for at in range(0, len(data), MIB)]
    structure = bytearray(path.read_bytes())
    for _, block, _, piece in sorted(entries, key=lambda entry: -entry[3]["offset"]):
        del structure[piece["offset"]:piece["offset"] + block.nbytes]
    return {"file": path.name, "bytes": path.stat().st_size,
            "structure_crc32c": crc_by_definition(structure)}


class ReaderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.dir = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.dir.name)
        cls.addClassCleanup(cls.dir.cleanup)
        cls.lines = {}
        for name, mesh in (("mesh", MESH), ("alone", {"devices": "cpu"})):
            path = cls.root / f"{name}.json"
            path.write_text(json.dumps(config(name, mesh, {"steps": 13})))
            cls.lines[name] = weft("train", path, "--run-dir", cls.root / "runs" / name, "--events")
        cls.mesh = weft_reader.Run(cls.root / "runs/mesh")
        cls.alone = weft_reader.Run(cls.root / "runs/alone")
        cls.values = np.random.default_rng(5).standard_normal((3, 400, 700)).astype(np.float32)
        halves = (cls.values[0].view(np.uint32) >> 16).astype(np.uint16)
        cls.halves = halves
        cls.made = write_checkpoint(
            cls.root / "made/step-00000013", cls.mesh.checkpoint().folder,
            {"large": (cls.values, (0, 0, 0), "f32"), "cut": (cls.values, (2, 130, 301), "f32"),
             "halves": (halves, (7, 0), "bf16"),
             "sixteen": (cls.values[1].astype(np.float16).view(np.uint16), (7, 0), "f16")})

    def copy(self, checkpoint):
        parent = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        return pathlib.Path(shutil.copytree(checkpoint.folder, parent / checkpoint.folder.name))

    # Runs ---------------------------------------------------------------------------------------

    def test_summaries_are_those_of_weft_runs(self):
        listed = json.loads(weft("runs", "list", self.root / "runs", "--json"))
        runs = weft_reader.runs(self.root / "runs")
        self.assertEqual([str(run.folder) for run in runs], [one["folder"] for one in listed])
        for run, theirs in zip(runs, listed):
            ours = run.summary()
            for key in ("state", "step", "total_steps", "loss", "best_metric", "best_value",
                        "best_step", "seconds"):
                self.assertEqual(getattr(ours, key), theirs[key], key)
            self.assertEqual(run.info["parameters"], theirs["parameters"])
            self.assertEqual(run.config["optimizer"]["learning_rate"], 1e-3)
            self.assertEqual(run.annotations,
                             {"tags": ["read"], "notes": "Of a test.", "archived": False})
            self.assertIn("programs", run.plan)

    def test_events_are_what_the_program_printed(self):
        for run, name in ((self.mesh, "mesh"), (self.alone, "alone")):
            self.assertEqual(list(run.events()), list(map(json.loads,
                                                          self.lines[name].splitlines())))

    def test_a_half_line_is_left_for_later_and_a_damaged_one_is_counted(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        path = folder / "events.jsonl"
        path.write_text('{"event": "step", "step": 1, "loss": "nan", "metrics": {"a": "-inf"}}\n'
                        'no event\n[1]\n{"event": "note", "mess')
        events = weft_reader.Run(folder).events()
        first = list(events)
        self.assertEqual(len(first), 1)
        self.assertTrue(math.isnan(first[0]["loss"]))
        self.assertEqual(first[0]["metrics"]["a"], -math.inf)
        self.assertEqual((list(events), events.damaged_lines), ([], 2))
        with open(path, "a", encoding="utf-8") as file:
            file.write('age": "nan"}\n')
        self.assertEqual(list(events), [{"event": "note", "message": "nan"}])

    def test_series_are_the_numbers_of_the_events(self):
        steps = [event for event in self.mesh.events() if event["event"] == "step"]
        loss = self.mesh.metrics["train/loss"]
        self.assertEqual(loss.step.tolist(), [event["step"] for event in steps])
        self.assertEqual(loss.value.tolist(), [event["loss"] for event in steps])
        self.assertEqual(loss.time.tolist(), [event["time"] for event in steps])
        measured = [event for event in self.mesh.events() if event["event"] == "evaluation"]
        for name in measured[0]["metrics"]:
            series = self.mesh.metrics[name]
            self.assertEqual(dict(zip(series.step.tolist(), series.value.tolist())),
                             {event["step"]: event["metrics"][name] for event in measured})
        self.assertNotIn("train/none", self.mesh.metrics)

    def test_of_steps_that_came_again_the_last_record_counts(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.root))
        (folder / "a").mkdir()
        kind = [("step", "<i8"), ("time", "<f8"), ("value", "<f8")]
        records = np.array([(1, 10, .1), (2, 11, .2), (3, 12, .3), (2, 13, .4)], kind)
        (folder / "a/b.f64").write_bytes(records.tobytes() + b"half a record")
        step, value, seconds = weft_reader.Metrics(folder)["a/b"]
        self.assertEqual((step.tolist(), value.tolist(), seconds.tolist()),
                         ([1, 2, 3], [.1, .4, .3], [10, 13, 12]))

    def test_a_run_is_followed_while_it_goes_on(self):
        path = self.root / "live.json"
        path.write_text(json.dumps(config("live", {"devices": "cpu"}, {"minutes": 60})))
        folder = self.root / "live"
        with subprocess.Popen([WEFT, "train", path, "--run-dir", folder, "--events", "--control",
                               "stdin"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, text=True) as process:
            try:
                self.follow(process, folder)
            finally:
                process.kill()

    def follow(self, process, folder):
        def wait_for(wanted):
            end = time.monotonic() + PATIENCE_S
            for line in process.stdout:
                event = json.loads(line)
                if wanted(event):
                    return event
                self.assertLess(time.monotonic(), end)
            raise AssertionError("the run ended")

        def send(command):
            process.stdin.write(json.dumps({"command": command}) + "\n")
            process.stdin.flush()

        wait_for(lambda event: event["event"] == "step")
        run = weft_reader.Run(folder)
        self.assertTrue(run.is_live)
        self.assertEqual(run.summary().state, "running")
        events = run.events()
        seen = list(events)
        send("checkpoint")
        pinned = wait_for(lambda event: "by hand" in event.get("kept_for", []))["step"]
        later = list(events)
        self.assertEqual([event["seq"] for event in seen + later],
                         list(range(seen[0]["seq"], later[-1]["seq"] + 1)))
        send("stop")
        wait_for(lambda event: event.get("state") == "stopped")
        process.stdout.read()
        process.wait(PATIENCE_S)
        self.assertFalse(run.is_live)
        self.assertEqual(run.summary().state, "stopped")
        self.assertEqual({entry.step for entry in run.checkpoints() if entry.is_pinned}, {pinned})
        self.assertTrue(run.checkpoint(pinned).is_pinned)
        self.check_listing(run)

    def test_the_package_has_the_version_of_the_program(self):
        project = pathlib.Path(weft_reader.__file__).parents[1] / "pyproject.toml"
        version = weft("--version").split()[-1]
        self.assertIn(f'\nversion = "{version}"\n', project.read_text())

    def test_a_folder_without_a_run_is_refused(self):
        with self.assertRaisesRegex(weft_reader.WeftError, "there is no run here"):
            weft_reader.Run(self.root)

    # Checkpoints --------------------------------------------------------------------------------

    def check_listing(self, run):
        theirs = json.loads(weft("checkpoint", "list", run.folder, "--json"))
        ours = run.checkpoints()
        self.assertEqual([(str(one.folder), one.step, list(one.kept_for)) for one in ours],
                         [(one["path"], one["step"], one["kept_for"]) for one in theirs])
        for one, entry in zip(ours, theirs):
            self.assertEqual(bool(one.problem), bool(entry["problem"]), entry["problem"])

    def test_the_list_of_checkpoints_is_that_of_weft(self):
        copy = pathlib.Path(shutil.copytree(self.mesh.folder, self.root / "crowded"))
        places = copy / "checkpoints"
        newest = places / "step-00000013"
        for name in ("mine", "unusable-step-00000002", ".tmp-step-00000020", "step-00000007"):
            shutil.copytree(newest, places / name)
        (places / "step-00000099").mkdir()
        (places / "notes").mkdir()
        for run in (self.mesh, self.alone, weft_reader.Run(copy)):
            self.check_listing(run)
        reasons = {one.step: one.kept_for for one in self.mesh.checkpoints()}
        self.assertIn("every 4", reasons[8])
        self.assertEqual(weft_reader.Run(copy).checkpoint().step, 13)

    def test_the_best_is_the_one_that_weft_takes(self):
        for run in (self.mesh, self.alone):
            shown = json.loads(weft("checkpoint", "show", run.folder, "--from", "best", "--json"))
            best = run.checkpoint("best")
            self.assertEqual(str(best.folder), shown["path"])
            self.assertEqual(run.summary().best_value, best.metrics["validation/loss"])
        with self.assertRaisesRegex(weft_reader.WeftError, "no checkpoint 3 .* 4, 8, "):
            self.mesh.checkpoint(3)

    def test_the_record_is_what_weft_shows(self):
        for run in (self.mesh, self.alone):
            checkpoint = run.checkpoint()
            shown = json.loads(weft("checkpoint", "show", run.folder, "--json"))
            for ours, key in ((checkpoint.step, "step"), (checkpoint.epoch, "epoch"),
                              (checkpoint.progress, "counters"), (checkpoint.metrics, "metrics"),
                              (checkpoint.metric_step, "metric_step"),
                              (checkpoint.saved_time, "time"),
                              (checkpoint.environment, "environment"),
                              (checkpoint.mesh, "mesh")):
                theirs = dict(shown[key]) if key == "mesh" else shown[key]
                self.assertEqual(ours, theirs, key)
            self.assertEqual(checkpoint.config, run.config)
            self.assertEqual([(array.name, array.kind, f"{array.stored}"
                               f"[{','.join(map(str, array.shape))}]", array.spec)
                              for array in checkpoint.values()],
                             [(entry["name"], entry["kind"], entry["type"], entry["spec"])
                              for entry in shown["tensors"]])

    def test_arrays_are_those_that_weft_exports(self):
        for run in (self.mesh, self.alone):
            checkpoint = run.checkpoint()
            npz = self.root / f"{run.folder.name}.npz"
            tensors = self.root / f"{run.folder.name}.safetensors"
            for file in (npz, tensors):
                weft("checkpoint", "export", checkpoint.folder, "--all", "--to", file)
            exported = read_safetensors(tensors)
            with np.load(npz) as arrays:
                self.assertEqual(set(arrays.files), set(checkpoint))
                self.assertEqual(set(exported), set(checkpoint))
                for name, array in checkpoint.items():
                    whole = array[...]
                    self.assertEqual((whole.dtype, whole.shape), (array.dtype, array.shape))
                    np.testing.assert_array_equal(whole, arrays[name], name)
                    self.assertEqual(exported[name][1:], (array.shape, whole.tobytes()), name)
            self.assertTrue(checkpoint.of_kind("optimizer"))

    def test_pieces_are_the_data_sets_that_h5py_reads(self):
        checkpoint = self.mesh.checkpoint()
        found = 0
        for shard in sorted(checkpoint.folder.glob("*.h5")):
            with h5py.File(shard, "r") as file:
                sets = []
                file.visititems(lambda name, one: sets.append((name, one))
                                if isinstance(one, h5py.Dataset) else None)
                for path, one in sets:
                    name = path.split("/", 1)[1]
                    start = (0,) * one.ndim
                    if name not in checkpoint:
                        name, starts = name.rsplit("/", 1)
                        start = tuple(map(int, starts.split(",")))
                    block = tuple(slice(a, a + b) for a, b in zip(start, one.shape))
                    np.testing.assert_array_equal(checkpoint[name][block], one[()])
                    found += one.size
        self.assertEqual(found, sum(array.size for array in checkpoint.values()))

    def test_what_h5py_wrote_by_the_description_weft_takes_for_sound(self):
        weft("checkpoint", "verify", self.made)
        self.assertEqual(weft_reader.Checkpoint(self.made).problems(), [])

    def test_bf16_comes_as_float32_or_as_it_is(self):
        file = self.root / "made.safetensors"
        weft("checkpoint", "export", self.made, "--to", file)
        self.assertEqual(read_safetensors(file)["halves"],
                         ("BF16", self.halves.shape, self.halves.tobytes()))
        array = weft_reader.Checkpoint(self.made)["halves"]
        self.assertEqual((array.stored, array.dtype, array.stored_bytes),
                         ("bf16", np.float32, self.halves.nbytes))
        expected = (self.halves.astype(np.uint32) << 16).view(np.float32)
        np.testing.assert_array_equal(array[...], expected)
        np.testing.assert_array_equal(array[5:9, ::3], expected[5:9, ::3])
        try:
            import ml_dtypes
        except ImportError:
            with self.assertRaisesRegex(ImportError, "needs the package ml_dtypes"):
                weft_reader.Checkpoint(self.made, bf16="ml_dtypes")
            return
        as_it_is = weft_reader.Checkpoint(self.made, bf16="ml_dtypes")["halves"][...]
        self.assertEqual(as_it_is.dtype, ml_dtypes.bfloat16)
        self.assertEqual(as_it_is.tobytes(), self.halves.tobytes())

    def test_f16_comes_as_it_is(self):
        expected = self.values[1].astype(np.float16)
        for ending, read in (("safetensors", read_safetensors), ("npz", np.load)):
            file = self.root / f"f16.{ending}"
            weft("checkpoint", "export", self.made, "--to", file)
            found = read(file)["sixteen"]
            if ending == "safetensors":
                self.assertEqual(found, ("F16", expected.shape, expected.tobytes()))
            else:
                np.testing.assert_array_equal(found, expected, strict=True)
        array = weft_reader.Checkpoint(self.made)["sixteen"]
        self.assertEqual((array.stored, array.dtype), ("f16", np.float16))
        np.testing.assert_array_equal(array[5:9, ::3], expected[5:9, ::3], strict=True)

    def test_ranges_are_those_of_numpy(self):
        draw = np.random.default_rng(11)
        checkpoint = weft_reader.Checkpoint(self.made)

        def any_key(extent):
            kind = draw.integers(4)
            if kind == 0:
                return int(draw.integers(-extent, extent))
            low, high = (int(place) for place in draw.integers(-extent - 2, extent + 3, 2))
            return slice(None) if kind == 1 else slice(low, high, int(draw.choice([-3, -1, 1, 5])))

        keys = [(...,), (..., 3), (1, ..., slice(2, 5)), (), (slice(0, 0),), -1]
        keys += [tuple(any_key(extent) for extent in self.values.shape[:draw.integers(1, 4)])
                 for _ in range(40)]
        for key in keys:
            for name in ("large", "cut"):
                ours, theirs = checkpoint[name][key], self.values[key]
                self.assertEqual((np.shape(ours), ours.dtype), (np.shape(theirs), theirs.dtype))
                np.testing.assert_array_equal(ours, theirs, f"{name}{key}")
        np.testing.assert_array_equal(np.asarray(checkpoint["cut"], np.float64), self.values)
        self.assertEqual(len(checkpoint["cut"]), 3)
        for key in ((0, 0, 0, 0), (..., ...), 3, 1.5, True, [0, 1], None):
            with self.assertRaises(IndexError, msg=str(key)):
                checkpoint["cut"][key]

    def test_a_range_of_ten_gigabytes_takes_no_memory_to_speak_of(self):
        folder = self.root / "huge/step-00000013"
        shutil.copytree(self.made, folder)
        rows, columns = 2_621_440, 1024  # f32: 10 GiB
        manifest = json.loads((folder / "manifest.json").read_text())
        with open(folder / "huge.h5", "wb") as file:
            file.truncate(rows * columns * 4)
        zeros = crc_by_definition(bytes(MIB))
        manifest["shards"].append({"file": "huge.h5", "bytes": rows * columns * 4,
                                   "structure_crc32c": 0, "writer": 9})
        manifest["tensors"].append({
            "name": "huge", "kind": "parameters", "dtype": "f32", "shape": [rows, columns],
            "spec": "P()", "bytes": rows * columns * 4,
            "pieces": [{"start": [0, 0], "count": [rows, columns], "shard": "huge.h5", "offset": 0,
                        "crc32c": 0, "mib_crc32c": [zeros] * (rows * columns * 4 // MIB)}]})
        del manifest["committed"]
        body = (json.dumps(manifest, indent=2)[:-2] + ",\n").encode()
        seal = '  "committed": "crc32c %08x"\n}\n' % crc_by_definition(body)
        (folder / "manifest.json").write_bytes(body + seal.encode())
        array = weft_reader.Checkpoint(folder)["huge"]
        self.assertEqual(array.stored_bytes, 10 << 30)
        with open(folder / "huge.h5", "r+b") as file:
            file.write(b"changed")  # the first MiB is not asked for below
        tracemalloc.start()
        part = array[-3000:-1000:10, ::512]
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        self.assertEqual((part.shape, part.any()), ((200, 2), False))
        # The box of 2,000 rows is 8 MiB; beside it what is read at once and its checksums.
        self.assertLess(peak, 64 * MIB)
        with self.assertRaisesRegex(weft_reader.WeftError, "huge.h5: array 'huge': the checksum"):
            array[0, 0]

    # Damage -------------------------------------------------------------------------------------

    def test_a_changed_byte_is_told_with_file_and_array(self):
        for folder, name, piece in ((self.made, "large", 0), (self.made, "cut", 3),
                                    (self.mesh.checkpoint().folder, "layers.0.weight", 2)):
            copy = self.copy(weft_reader.Checkpoint(folder))
            entry = next(one for one in json.loads((copy / "manifest.json").read_text())["tensors"]
                         if one["name"] == name)["pieces"][piece]
            flip(copy / entry["shard"], entry["offset"] + 4 * math.prod(entry["count"]) - 1)
            checkpoint = weft_reader.Checkpoint(copy)
            corner = tuple(a + b - 1 for a, b in zip(entry["start"], entry["count"]))
            expected = f"{entry['shard']}: array '{name}'.*the checksum does not match"
            with self.assertRaisesRegex(weft_reader.WeftError, expected):
                checkpoint[name][corner]
            with self.assertRaisesRegex(weft_reader.WeftError, expected):
                checkpoint[name][...]
            checkpoint[name][(0,) * len(corner)]  # of another MiB
            self.assertEqual(weft_reader.Checkpoint(copy, verify=False)[name][corner].shape, ())
            self.assertEqual(len(checkpoint.problems()), 1)
            self.assertRegex(checkpoint.problems()[0], expected)
            self.assertIn(f"array '{name}'", weft("checkpoint", "verify", copy, code=3))

    def test_a_checkpoint_with_one_sum_per_piece_is_checked_too(self):
        folder = write_checkpoint(self.root / "older/step-00000013",
                                  self.mesh.checkpoint().folder,
                                  {"large": (self.values, (0, 0, 0), "f32")}, sums_by_mib=False)
        np.testing.assert_array_equal(weft_reader.Checkpoint(folder)["large"][2, 300:],
                                      self.values[2, 300:])
        entry = json.loads((folder / "manifest.json").read_text())["tensors"][0]["pieces"][0]
        flip(folder / entry["shard"], entry["offset"])
        with self.assertRaisesRegex(weft_reader.WeftError, "array 'large': the checksum"):
            weft_reader.Checkpoint(folder)["large"][2, 300:]

    def test_a_changed_byte_beside_the_arrays_is_told(self):
        copy = self.copy(self.mesh.checkpoint())
        flip(copy / "arrays-00001.h5", 9)
        checkpoint = weft_reader.Checkpoint(copy)
        with self.assertRaisesRegex(weft_reader.WeftError, "arrays-00001.h5: .* structure"):
            checkpoint["layers.0.weight"][...]
        self.assertRegex(checkpoint.problems()[0], "arrays-00001.h5: .* structure")

    def test_no_changed_byte_of_the_manifest_passes(self):
        copy = self.copy(self.mesh.checkpoint())
        path = copy / "manifest.json"
        size = path.stat().st_size
        for offset in [*range(0, size, size // 150), *range(size - 40, size)]:
            flip(path, offset)
            with self.assertRaises(weft_reader.WeftError, msg=f"byte {offset}"):
                weft_reader.Checkpoint(copy).step
            flip(path, offset)
        self.assertEqual(weft_reader.Checkpoint(copy).step, 13)
        os.truncate(path, size - 1)
        with self.assertRaisesRegex(weft_reader.WeftError, "manifest.json: the commit marker"):
            weft_reader.Checkpoint(copy).step

    def test_a_missing_and_a_shorter_file_are_told(self):
        copy = self.copy(self.mesh.checkpoint())
        shard = copy / "arrays-00002.h5"
        os.truncate(shard, shard.stat().st_size - 1)
        with self.assertRaisesRegex(weft_reader.WeftError, "arrays-00002.h5: the file has .* by"):
            len(weft_reader.Checkpoint(copy))
        shard.unlink()
        with self.assertRaisesRegex(weft_reader.WeftError, "arrays-00002.h5: .* is missing"):
            len(weft_reader.Checkpoint(copy))
        (copy / "manifest.json").unlink()
        with self.assertRaisesRegex(weft_reader.WeftError, "written last, is missing"):
            len(weft_reader.Checkpoint(copy))

    # Checksums ----------------------------------------------------------------------------------

    def test_checksums_are_those_of_rfc_3720(self):
        cases = {b"": 0, bytes(32): 0x8A9136AA, b"\xff" * 32: 0x62A8AB43,
                 bytes(range(32)): 0x46DD794E, b"123456789": 0xE3069283}
        for data, expected in cases.items():
            self.assertEqual(crc32c(np.frombuffer(data, np.uint8)), expected)

    def test_checksums_of_any_length_are_those_of_the_definition(self):
        data = np.random.default_rng(2).integers(0, 256, 2 * MIB + 777, np.uint8)
        for size in (1, 7, 8, 9, 4095, 32767, 32768, 32769, 100_003):
            self.assertEqual(crc32c(data[:size]), crc_by_definition(data[:size]), size)
            first = crc32c(data[:size // 3])
            self.assertEqual(crc32c(data[size // 3:size], first), crc_by_definition(data[:size]))
        self.assertEqual(block_crc32c(data).tolist(), [crc_by_definition(data[at:at + MIB])
                                                       for at in range(0, data.size, MIB)])


if __name__ == "__main__":
    WEFT = sys.argv.pop(1)
    unittest.main()
