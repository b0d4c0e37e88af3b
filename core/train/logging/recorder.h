// SPDX-License-Identifier: Apache-2.0
// Where the numbers of a run go beside events.jsonl: the metrics store and TensorBoard files. These
// are copies; when one cannot be written the run says so once and goes on.
#pragma once

#include "core/train/logging/metrics_store.h"
#include "core/train/logging/tensorboard_writer.h"

#include <memory>
#include <optional>
#include <string>

namespace weft::train {

class Recorder {
public:
    /// `metrics_folder` is <run>/metrics.
    Recorder(const std::filesystem::path& metrics_folder, bool tensorboard, double now,
             const std::string& host);
    /// Returns a problem to warn about, the first time there is one; else empty.
    std::string add(const Event& event);

private:
    std::filesystem::path folder_;
    std::optional<MetricsStore> store_;
    std::unique_ptr<TensorboardWriter> tensorboard_;
    std::string problem_;
};

} // namespace weft::train
