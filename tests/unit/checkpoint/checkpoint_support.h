// SPDX-License-Identifier: Apache-2.0
// What the checkpoint tests share: a small state of every element type.
#pragma once

#include "core/checkpoint/checkpoint.h"
#include "tests/support/error_of.h"
#include "tests/support/weft_test.h"

#include <QTemporaryDir>

#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <optional>
#include <string>
#include <vector>

namespace weft::checkpoint::test {

using weft::test::error_of;

/// Arrays and the memory that they are in.
class Arrays {
public:
    template <class T>
    void add(std::string name, std::string kind, ir::DType dtype, ir::Shape shape,
             const std::vector<T>& values) {
        auto& bytes = memory_.emplace_back(
            std::make_unique<std::vector<std::byte>>(values.size() * sizeof(T)));
        if (!values.empty()) {
            std::memcpy(bytes->data(), values.data(), bytes->size());
        }
        views_.push_back({std::move(name), std::move(kind), {dtype, shape}, *bytes});
    }
    std::vector<TensorView>& views() { return views_; }
    const std::vector<TensorView>& views() const { return views_; }

private:
    std::vector<std::unique_ptr<std::vector<std::byte>>> memory_;
    std::vector<TensorView> views_;
};

/// One array of every element type, a scalar and an empty one.
inline Arrays every_type() {
    Arrays out;
    out.add<float>("layers.0.weight", "parameters", ir::DType::f32, {2, 3},
                   {1.5F, -2, 0, -0.0F, 1e-40F, 3e38F});
    out.add<std::uint16_t>("layers.0.half", "parameters", ir::DType::bf16, {2}, {0x3f80, 0xc000});
    out.add<double>("layers.0.weight.m", "optimizer", ir::DType::f64, {2}, {0.1, -1e300});
    out.add<std::int32_t>("steps", "state", ir::DType::i32, {}, {-7});
    out.add<std::int64_t>("keys", "state", ir::DType::i64, {2}, {INT64_MIN, INT64_MAX});
    out.add<std::uint8_t>("bytes", "state", ir::DType::u8, {5}, {0, 1, 127, 128, 255});
    out.add<float>("empty", "state", ir::DType::f32, {0, 4}, {});
    return out;
}

inline Record record_of(std::int64_t step, std::optional<double> metric = std::nullopt) {
    Record record;
    record.step = step;
    record.epoch = 0.1 * static_cast<double>(step);
    record.counters["samples"] = 256 * step;
    record.counters["data"]["position"] = 17;
    record.counters["seconds_trained"] = 12.5;
    if (metric) {
        record.metrics["validation/loss"] = *metric;
        record.metric_step = step;
    }
    return record;
}

inline std::string read_all(const std::filesystem::path& path) {
    std::ifstream file(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
}

inline void write_all(const std::filesystem::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

/// Steps of the usable checkpoints of a folder.
inline std::vector<std::int64_t> steps_in(const std::filesystem::path& folder) {
    std::vector<std::int64_t> steps;
    for (const Entry& entry : list_checkpoints(folder)) {
        if (entry.problem.empty()) {
            steps.push_back(entry.step);
        }
    }
    return steps;
}

class Folder {
public:
    std::filesystem::path path() const { return dir_.path().toStdString(); }

private:
    QTemporaryDir dir_;
};

} // namespace weft::checkpoint::test
