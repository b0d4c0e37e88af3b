// SPDX-License-Identifier: Apache-2.0
// Where the numbers of a run go beside events.jsonl: the metrics store, TensorBoard files and,
// where asked, a folder for Weights & Biases. These are copies; when one cannot be written the run
// says so once and goes on.
#pragma once

#include "core/train/inside/layer_watch.h"
#include "core/train/logging/metrics_store.h"
#include "core/train/logging/tensorboard_writer.h"
#include "core/train/logging/wandb_writer.h"

#include <memory>
#include <optional>
#include <string>

namespace weft::train {

class Recorder {
public:
    /// `metrics_folder` is <run>/metrics.
    Recorder(const std::filesystem::path& metrics_folder, bool tensorboard, double now,
             const std::string& host);
    /// From now on also for Weights & Biases, into this folder.
    void keep_for_wandb(const std::filesystem::path& folder, const WandbRun& run, double now);
    /// The session ended as it was meant to. Without this call it counts as failed.
    void finish();
    /// Returns a problem to warn about, the first time there is one; else empty.
    std::string add(const Event& event);
    /// What the run saw inside its network, as histograms for TensorBoard: "weights/NAME",
    /// "gradients/NAME", "updates/NAME", "activations/LAYER". The next call of add returns a
    /// problem.
    void add_look(const Watched& watched, const InsideLook& look, double now);

private:
    std::filesystem::path folder_;
    std::optional<MetricsStore> store_;
    std::unique_ptr<TensorboardWriter> tensorboard_;
    std::unique_ptr<WandbWriter> wandb_;
    std::string problem_;
};

} // namespace weft::train
