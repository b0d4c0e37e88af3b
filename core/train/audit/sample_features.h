// SPDX-License-Identifier: Apache-2.0
// What a network makes of each sample before its last layer.
#pragma once

#include "core/exec/executor.h"
#include "core/exec/value_observer.h"

#include <span>
#include <vector>

namespace weft::train {

/// The numbers of an array as f32; whole numbers and truth values too.
std::vector<float> floats_of(const ir::Type& type, std::span<const std::byte> bytes);

/// What the last product of the predict program reads, a row for each sample: the features that a
/// classifier sees. Looks on for as long as it lives.
class LayerBefore final : public exec::ValueObserver {
public:
    explicit LayerBefore(exec::Executor& executor);
    ~LayerBefore() override;
    LayerBefore(const LayerBefore&) = delete;
    LayerBefore& operator=(const LayerBefore&) = delete;

    /// False: no product reads a row for each sample, or the model is spread over devices.
    bool found() const { return step_ != nullptr; }
    /// Of the last run.
    std::vector<float> row(std::size_t sample) const;

    void seen(const plan::Step& step, const exec::StepValues& values) override;

private:
    exec::Executor& executor_;
    const plan::Step* step_ = nullptr;
    ir::Type type_;
    std::vector<std::byte> bytes_;
};

} // namespace weft::train
