// SPDX-License-Identifier: Apache-2.0
#include "core/train/ways_on.h"

#include "core/advise/alternatives.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/checkpoint/checkpoint.h"
#include "core/compile/programs/programs.h"
#include "core/train/compute.h"

#include <algorithm>

namespace weft::train {
namespace {

constexpr std::size_t kMostWays = 3;

/// The next smaller micro batch that divides the global one; 0: there is none.
std::int64_t smaller_micro_batch(const compile::BatchPlan& batch) {
    std::int64_t size = batch.micro_batch_size / 2;
    while (size > 0 && batch.global_batch_size % (size * batch.data_ranks) != 0) {
        --size;
    }
    return size;
}

} // namespace

std::int64_t newest_checkpoint(const std::filesystem::path& run_folder) {
    std::int64_t newest = -1;
    for (const checkpoint::Entry& entry :
         checkpoint::list_checkpoints(run_folder / "checkpoints")) {
        newest = entry.problem.empty() ? std::max(newest, entry.step) : newest;
    }
    return newest;
}

std::string way_from(std::int64_t checkpoint) {
    return checkpoint < 0 ? "Start again" : "Resume from step " + format_thousands(checkpoint);
}

std::vector<WayOn> ways_without_gpus(const compile::RunConfig& config, std::int64_t checkpoint) {
    const std::string assignment = R"(mesh={"devices":"cpu"})";
    const auto changed = compile::with_overrides(config, {assignment});
    if (!names_gpus(config) || !changed) {
        return {};
    }
    try {
        compute_of(*changed);
    } catch (const Error&) {
        return {}; // a precision that the CPU does not have
    }
    return {{way_from(checkpoint) + " on the CPU",
             std::max<std::int64_t>(checkpoint, 0),
             {assignment}}};
}

std::vector<WayOn> ways_with_less_memory(const compile::RunConfig& config,
                                         std::int64_t checkpoint) {
    std::vector<WayOn> out;
    const auto offer = [&](const std::string& change, const std::string& assignment) {
        if (out.size() < kMostWays && compile::with_overrides(config, {assignment})) {
            out.push_back({way_from(checkpoint) + change, std::max<std::int64_t>(checkpoint, 0),
                           {assignment}});
        }
    };
    const compile::BatchPlan batch = compile::plan_batch(config);
    if (const std::int64_t size = smaller_micro_batch(batch); size > 0) {
        offer(" with micro batches of " + format_thousands(size),
              "training.micro_batch_size=" + std::to_string(size));
    }
    if (config.recompute != "blocks") {
        offer(" with activations computed again", "training.recompute=blocks");
    }
    if (config.compute_dtype() == ir::DType::f32) {
        offer(" in bf16", "training.precision=bf16");
    }
    if (config.checkpoint_async) {
        offer(" waiting for checkpoints", "checkpoint.async=false");
    }
    return out;
}

} // namespace weft::train
