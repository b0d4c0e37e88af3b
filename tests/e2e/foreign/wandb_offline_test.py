# SPDX-License-Identifier: Apache-2.0
"""The offline folder of a run is what the wandb package reads: its own reader, its own messages.

    python3 wandb_offline_test.py WEFT [TestClass[.test]]

Needs wandb with its reader in Python (0.17). Exits 77 where it is missing.
"""
import json
import pathlib
import sys
import tempfile
import unittest

import weft_program
from weft_program import weft

try:
    import wandb
    from wandb.proto import wandb_internal_pb2
    from wandb.sdk.internal import datastore
except ImportError as missing:
    print(f"SKIPPED: wandb 0.17 is needed: {missing}")
    sys.exit(77)

STEPS = 400  # more than one block of the file


def records_of(file):
    wandb._set_internal_process()  # the reader asks for it
    store = datastore.DataStore()
    store.open_for_scan(str(file))
    while True:
        data = store.scan_data()
        if data is None:
            store.close()
            return
        record = wandb_internal_pb2.Record()
        record.ParseFromString(data)
        yield record


def values_of(items):
    return {item.key: json.loads(item.value_json) for item in items}


class WandbOfflineTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def test_a_run_is_read(self):
        config = self.folder / "config.json"
        config.write_text(json.dumps({
            "name": "shown", "seed": 3, "notes": "a note", "tags": ["one", "two"],
            "data": {"train": {"type": "synthetic", "kind": "classification", "features": 8,
                               "classes": 3, "samples": 120}, "validation": {"split": 0.2}},
            "model": {"type": "mlp", "hidden": [8]},
            "training": {"global_batch_size": 16, "length": {"steps": STEPS}},
            "log": {"tensorboard": False, "wandb": "looms"}}))
        run = self.folder / "run"
        weft("train", config, "--run-dir", run)
        sessions = list((run / "wandb").iterdir())
        self.assertEqual(len(sessions), 1)
        file = next(sessions[0].glob("run-*.wandb"))
        self.assertGreater(file.stat().st_size, datastore.LEVELDBLOG_BLOCK_LEN)
        records = list(records_of(file))
        kinds = [record.WhichOneof("record_type") for record in records]
        self.assertEqual((kinds[:2], kinds[-2:]), (["header", "run"], ["summary", "exit"]))
        self.assertEqual([record.num for record in records], list(range(len(records))))
        told = records[1].run
        self.assertEqual((told.project, told.display_name, told.notes, list(told.tags)),
                         ("looms", "run", "a note", ["one", "two"]))
        self.assertEqual(file.name, f"run-{told.run_id}.wandb")
        self.assertEqual(values_of(told.config.update)["model"]["hidden"], [8])
        self.assertEqual(records[-1].exit.exit_code, 0)
        events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
        losses = {event["step"]: event["loss"] for event in events if event["event"] == "step"}
        history = [record.history for record in records if record.HasField("history")]
        theirs = {one.step.num: values_of(one.item)["train/loss"] for one in history
                  if "train/loss" in values_of(one.item)}
        self.assertEqual(theirs, losses)
        self.assertEqual(len(theirs), STEPS)
        self.assertEqual(values_of(records[-2].summary.update)["train/loss"], losses[STEPS])


if __name__ == "__main__":
    weft_program.program = sys.argv.pop(1)
    unittest.main()
