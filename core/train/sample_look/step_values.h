// SPDX-License-Identifier: Apache-2.0
// Takes from the steps of a program what its layers put out and what its attention reads, while
// they run. Internal to this folder.
#pragma once

#include "core/exec/value_observer.h"
#include "core/plan/plan.h"
#include "core/train/sample_look/sample_look.h"

#include <map>
#include <unordered_map>

namespace weft::train {

class StepWatch final : public exec::ValueObserver {
public:
    /// `program` was planned for one sample, which is the argument `input`; it outlives the watch.
    StepWatch(const plan::PlannedProgram& program, std::string_view input);

    void seen(const plan::Step& step, const exec::StepValues& values) override;
    /// What the last run had, and nothing of it any more.
    SampleLook take();

private:
    using Kept = std::unordered_map<const plan::Step*, std::size_t>;
    using Steps = std::vector<const plan::Step*>;

    /// Those that make what layers put out, the last of each layer, in their order.
    void find_makers(const std::vector<plan::Step>& steps, std::vector<bool>& of_sample,
                     Steps& makers);
    void add_attention(const plan::Step& step);
    void find_patches();

    std::vector<LayerLook> layers_;
    std::vector<AttentionLook> attention_;
    std::optional<PatchGrid> patches_;
    PatchGrid grid_; // of the last convolution before attention
    std::map<std::string, std::vector<std::string>> kinds_; // of ops, by layer
    Kept makers_;    // the step that makes what a layer puts out: place in layers_
    Kept attenders_; // place in attention_
};

} // namespace weft::train
