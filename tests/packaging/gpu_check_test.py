# SPDX-License-Identifier: Apache-2.0
"""packaging/gpu-check from its own bundle, on emulated GPUs: gpu_check_test.py SOURCE BUILD EMULATED_MODULES"""
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

SOURCE, BUILD, MODULES = (pathlib.Path(argument) for argument in sys.argv[1:4])
SKIPPED = 77
PARTS = "machine,self-test,training mlp,resume"


class GpuCheckTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.root = pathlib.Path(cls.folder.name)
        cls.bundle = cls.root / "bundle.tar.xz"
        subprocess.run([SOURCE / "packaging" / "gpu-check", "--build", BUILD, "--bundle", cls.bundle], check=True)
        with tarfile.open(cls.bundle) as archive:
            archive.extractall(cls.root / "check")

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def check(self, out, *arguments, **variables):
        """Exit code, and rows by part. Nothing of this machine's surroundings goes along."""
        ended = subprocess.run([self.root / "check" / "gpu-check", "--modules", MODULES, "--out", self.root / out, *arguments],
                               env={"PATH": "/usr/bin:/bin", "HOME": str(self.root), **variables})
        document = json.loads((self.root / out / "gpu-check.json").read_text())
        return ended.returncode, {name: part["rows"] for name, part in document["parts"].items()}

    def test_the_bundle_travels(self):
        self.assertLessEqual(self.bundle.stat().st_size, 64 << 20)
        names = [path.name for path in (self.root / "check").rglob("*")]
        self.assertFalse([name for name in names if name.startswith(("libQt", "libcublas", "libcudnn", "libcuda", "libnvrtc"))])

    def test_right_gpus_are_right(self):
        code, parts = self.check("right", "--only", PARTS)
        self.assertEqual(code, 0)
        self.assertEqual(sorted(parts), sorted(PARTS.split(",")))
        self.assertTrue(any(row["right"] for row in parts["self-test"]))
        self.assertIn("| resume |", (self.root / "right" / "gpu-check.md").read_text())

    def test_a_wrong_gpu_is_told(self):
        code, parts = self.check("wrong", "--only", "self-test,training mlp", WEFT_EMULATED_WRONG="softmax_grad")
        self.assertEqual(code, 1)
        self.assertIn("softmax_grad", parts["self-test"][0]["figure"])
        self.assertIs(parts["training mlp"][0]["right"], False)

    def test_a_call_goes_on_where_the_last_one_ended(self):
        code, parts = self.check("parts", "--only", "machine,resume", "--minutes", "1.5")
        self.assertEqual((code, sorted(parts)), (75, ["machine"]))
        code, parts = self.check("parts", "--only", "machine,resume")
        self.assertEqual((code, sorted(parts)), (0, ["machine", "resume"]))


if __name__ == "__main__":
    if not (BUILD / "app" / "lib" / "weft" / "weft-backend-cuda.so").exists():
        print("no CUDA module was built")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1], verbosity=2)
