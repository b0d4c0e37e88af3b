# SPDX-License-Identifier: Apache-2.0
"""Checkpoints and data in another program's object store: moto's S3 server, looked into with boto3.

    python3 object_store_test.py WEFT [TestClass[.test]]

Needs moto[server] and boto3. Exits 77 where one of them is missing.
"""
import json
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "foreign"))
import weft_program
from weft_program import weft

try:
    import boto3
    from moto.server import ThreadedMotoServer
except ImportError as missing:
    print(f"SKIPPED: moto[server] and boto3 are needed: {missing}")
    sys.exit(77)

BUCKET = "weft-test"
STEPS = 12
PART_BYTES = 16 << 20  # core/store/object_store.h


class ObjectStoreTest(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)
        server = ThreadedMotoServer(ip_address="127.0.0.1", port=0)
        server.start()
        self.addCleanup(server.stop)
        host, port = server.get_host_and_port()
        os.environ.update({
            "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE", "AWS_SECRET_ACCESS_KEY": "secret/of+the=test",
            "AWS_REGION": "us-east-1", "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ENDPOINT_URL": f"http://{host}:{port}",
            "XDG_CACHE_HOME": str(self.folder / "cache"), "WEFT_RUNS": str(self.folder / "elsewhere")})
        self.s3 = boto3.client("s3")
        self.s3.create_bucket(Bucket=BUCKET)

    def config(self, train, mirror, hidden):
        path = self.folder / "config.json"
        path.write_text(json.dumps({
            "name": "stored", "seed": 3, "data": {"train": train, "validation": {"split": 0.2}},
            "model": {"type": "mlp", "hidden": hidden, "dropout": 0.2},
            "training": {"global_batch_size": 16, "length": {"steps": STEPS}},
            "checkpoint": {"every": {"steps": 4}, "keep_latest": 1, "keep_best": 0, "mirror": mirror},
            "log": {"tensorboard": False}}))
        return path

    def objects(self, prefix):
        listed = self.s3.list_objects_v2(Bucket=BUCKET, Prefix=prefix)
        return {one["Key"][len(prefix):]: one for one in listed.get("Contents", [])}

    def bytes_of(self, key):
        return self.s3.get_object(Bucket=BUCKET, Key=key)["Body"].read()

    def test_a_run_is_copied_and_goes_on_elsewhere(self):
        made_up = {"type": "synthetic", "kind": "classification", "features": 64, "classes": 4,
                   "samples": 160, "seed": 1}
        # Parameters and two moments of 1400 x 1400 in f32: more than one part.
        config = self.config(made_up, f"s3://{BUCKET}/some folder/runs", [1400, 1400])
        weft("train", config, "--run-dir", self.folder / "whole", "--set", "checkpoint.mirror=null")
        weft("train", config, "--run-dir", self.folder / "part", "--max-steps", 8)
        here = self.folder / "part" / "checkpoints" / "step-00000008"
        prefix = "some folder/runs/part/checkpoints/"
        there = self.objects(prefix)
        self.assertEqual({name.split("/")[0] for name in there}, {"step-00000008"})
        for file in here.iterdir():
            self.assertEqual(self.bytes_of(f"{prefix}step-00000008/{file.name}"), file.read_bytes())
        shard = there["step-00000008/arrays-00000.h5"]
        self.assertGreater(shard["Size"], PART_BYTES)
        parts = -(-shard["Size"] // PART_BYTES)
        self.assertTrue(shard["ETag"].endswith(f'-{parts}"'), shard["ETag"])
        self.assertEqual(self.s3.list_multipart_uploads(Bucket=BUCKET).get("Uploads", []), [])
        weft("resume", f"s3://{BUCKET}/some folder/runs/part")
        weft("checkpoint", "diff", self.folder / "elsewhere" / "part", self.folder / "whole")
        # The same run, in the same place of the store; its old checkpoint went as retention says.
        self.assertEqual({name.split("/")[0] for name in self.objects(prefix)},
                         {f"step-{STEPS:08d}"})
        weft("checkpoint", "verify", f"s3://{BUCKET}/some folder/runs/part")

    def test_runs_start_from_weights_there(self):
        made_up = {"type": "synthetic", "kind": "classification", "features": 8, "classes": 4, "samples": 160,
                   "seed": 1}
        config = self.config(made_up, f"s3://{BUCKET}/runs", [16])
        weft("train", config, "--run-dir", self.folder / "first", "--max-steps", 8)
        file = self.folder / "weights.safetensors"
        weft("checkpoint", "export", self.folder / "first", "--to", file)
        self.s3.upload_file(str(file), BUCKET, "a folder/model.safetensors")

        def started(name, place, **more):
            run = self.folder / name
            weft("train", config, "--run-dir", run, "--max-steps", 0, "--set", "checkpoint.mirror=null", "--set",
                 "seed=9", "--set", f"init.from={json.dumps(str(place))}", **more)
            return run
        wanted = started("here", self.folder / "first")
        for name, place in {"run": "runs/first", "checkpoint": "runs/first/checkpoints/step-00000008",
                            "file": "a folder/model.safetensors", "folder": "a folder"}.items():
            run = started(name, f"s3://{BUCKET}/{place}")
            for kind in (run, wanted):
                weft("checkpoint", "export", kind, "--to", f"{kind}.safetensors", "--force")
            self.assertEqual(pathlib.Path(f"{run}.safetensors").read_bytes(),
                             pathlib.Path(f"{wanted}.safetensors").read_bytes(), name)
        with self.assertRaisesRegex(AssertionError, "there are no weights"):
            started("none", f"s3://{BUCKET}/nowhere")

    def test_data_that_boto3_wrote_are_read(self):
        rows = "a,b,y\n" + "".join(f"{i % 7},{i % 5},{'ab'[(i % 7 + i % 5) % 2]}\n" for i in range(200))
        self.s3.put_object(Bucket=BUCKET, Key="tables/rows é.csv", Body=rows.encode())
        config = self.config({"type": "csv", "path": f"s3://{BUCKET}/tables/rows é.csv", "targets": "y"},
                             None, [16])
        weft("train", config, "--run-dir", self.folder / "run")
        copies = list((self.folder / "cache" / "weft" / "stores").rglob("*.csv"))
        self.assertEqual([copy.read_text() for copy in copies], [rows])


if __name__ == "__main__":
    weft_program.program = sys.argv.pop(1)
    unittest.main()
