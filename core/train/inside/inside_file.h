// SPDX-License-Identifier: Apache-2.0
// What a run saw inside its network: inside/layers.cbor in the run's folder, a CBOR sequence (RFC
// 8742). A session that looks inside begins with a head, then comes an item for each update that it
// looked into:
//   head: {"schema_version", "parameters": [{"name", "layer", "shape"}], "activations": [{"layer",
//     "kind", "shape" of a microstep, "units"}]}
//   item: {"step", "samples", "parameters": [[weights, gradients, updates, update_norm,
//     update_ratio]], "activations": [[spread, dead]]}
//   spread: [count, zeros, not_finite, mean, deviation, low, high, norm, first_bin, bins], bins
//     (core/train/inside/spread.h) from the first to the last that have a number
// A torn last item is no data. When a run goes on from an earlier step, what was beyond it does not
// count any more.
#pragma once

#include "core/base/file.h"
#include "core/train/inside/layer_watch.h"

#include <filesystem>
#include <string>
#include <vector>

namespace weft::train {

/// Within the run's folder.
std::filesystem::path inside_path();

/// Appends to the file of a run; makes it with the first item. Throws weft::Error{runtime}.
class InsideWriter {
public:
    InsideWriter(std::filesystem::path run_folder, const Watched& watched);
    void add(const InsideLook& look);

private:
    std::filesystem::path folder_;
    std::string head_; // empty once it is written
};

/// A spread as it was written.
struct WrittenSpread {
    std::int64_t count = 0, zeros = 0, not_finite = 0;
    double mean = 0, deviation = 0, low = 0, high = 0, norm = 0;
    int first_bin = 0;
    std::vector<std::int64_t> bins;

    double zero_share() const { return count == 0 ? 0 : double(zeros) / double(count); }
};
/// A parameter, or what a layer puts out, over the updates that were looked into.
struct ParameterHistory {
    std::string name, layer;
    ir::Shape shape;
    struct Point {
        WrittenSpread weights, gradients, updates;
        double update_norm = 0, update_ratio = 0;
    };
    std::vector<Point> points; // [step]
};
struct ActivationHistory {
    std::string layer, kind;
    ir::Shape shape;        // of a microstep
    std::int64_t units = 0; // that can be dead; 0: none can
    struct Point {
        WrittenSpread spread;
        std::int64_t dead = 0;
    };
    std::vector<Point> points; // [step]
};
struct InsideHistory {
    std::vector<std::int64_t> steps, samples;
    std::vector<ParameterHistory> parameters;
    std::vector<ActivationHistory> activations;

    bool is_empty() const { return steps.empty(); }
};

/// Reads the file of a run, and goes on where it stopped when there is more. One thread at a time.
class InsideReader {
public:
    explicit InsideReader(const std::filesystem::path& run_folder);

    /// Reads what is there. False: nothing new. Throws weft::Error{data} for what no run writes.
    bool read_on();
    /// Empty where the run has not looked inside.
    const InsideHistory& history() const { return history_; }
    /// One past the last whole item.
    std::int64_t offset() const { return offset_; }

private:
    void take_head(const config::Json& head);
    void take_item(const config::Json& item);

    std::filesystem::path path_;
    std::int64_t offset_ = 0;
    InsideHistory history_;
    // Of the session that is being read: where its parameters and activations are in the history.
    std::vector<std::size_t> parameters_, activations_;
};

} // namespace weft::train
