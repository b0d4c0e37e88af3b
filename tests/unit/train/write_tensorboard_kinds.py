# SPDX-License-Identifier: Apache-2.0
"""Writes tensorboard_kinds.tfevents: values of every kind that PyTorch's SummaryWriter knows.

    python3 write_tensorboard_kinds.py       # needs torch, tensorboard and pillow
"""
import pathlib
import shutil
import tempfile

import numpy as np
import torch
from torch.utils.tensorboard import SummaryWriter

HERE = pathlib.Path(__file__).parent


def main():
    folder = pathlib.Path(tempfile.mkdtemp())
    writer = SummaryWriter(str(folder))
    picture = np.zeros((3, 4, 6), np.uint8)
    picture[0, :, :3] = 255  # the left half is red
    for step in (1, 5):
        writer.add_scalar("loss", 1.0 / step, step, walltime=100.0 + step)
        writer.add_image("pictures/half", picture, step, walltime=100.0 + step)
    writer.add_histogram_raw("weights", min=-1.0, max=2.0, num=5, sum=2.0, sum_squares=5.5,
                             bucket_limits=[0.0, 1.0, 1e20], bucket_counts=[1, 3, 1], global_step=3)
    turn = torch.arange(80) * (2 * torch.pi / 8)
    writer.add_audio("tone", torch.sin(turn)[None], 3, sample_rate=8000)
    writer.add_text("notes", "**bold** words, \u00e4", 3)
    labels = np.array([0, 0, 1, 1])
    writer.add_pr_curve("pr", labels, np.array([0.1, 0.6, 0.4, 0.9]), 3, num_thresholds=5)
    writer.add_hparams({"lr": 0.5}, {"final": 2.0}, run_name=".")
    writer.add_mesh("shape", torch.zeros(1, 3, 3), global_step=3)
    writer.add_custom_scalars({"all": {"losses": ["Multiline", ["loss"]]}})
    writer.add_graph(torch.nn.Linear(2, 2), torch.zeros(1, 2))
    writer.close()
    files = sorted(folder.rglob("events.out.tfevents.*"))
    (HERE / "tensorboard_kinds.tfevents").write_bytes(b"".join(file.read_bytes() for file in files))
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
