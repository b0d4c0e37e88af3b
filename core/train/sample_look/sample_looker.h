// SPDX-License-Identifier: Apache-2.0
// A saved model made ready to be looked into, one sample at a time.
#pragma once

#include "core/train/engine.h"
#include "core/train/sample_look/sample_look.h"

#include <span>

namespace weft::train {

/// Has the weights once more, in a plan for one sample on one device whose kernels each belong to
/// one layer: what layers make is what `weft predict` makes up to the order of sums.
class SampleLooker {
public:
    /// The weights that `model` has now, of a run on samples like `sample`. Throws weft::Error as
    /// planning does.
    SampleLooker(const compile::RunConfig& config, const data::SampleInfo& sample,
                 exec::Executor& model, int threads);
    SampleLooker(const LoadedModel& model, int threads)
        : SampleLooker(model.config, model.data.train->info(), *model.executor, threads) {}
    ~SampleLooker();
    SampleLooker(const SampleLooker&) = delete;
    SampleLooker& operator=(const SampleLooker&) = delete;

    /// Of one sample of the data, after transforms; `sample` has the bytes of its input. Throws
    /// weft::Error{usage} for a model that predicts nothing: it makes samples.
    SampleLook look(std::span<const std::byte> sample);
    /// Of a text, at most as long as the context: of a longer one the end. Throws
    /// weft::Error{usage} where the model does not write, sees later tokens or does not know one.
    SampleLook look_at_text(std::span<const std::int32_t> tokens);

private:
    SampleLook run(std::string_view program, std::string_view input);

    compile::RunConfig config_;
    ir::Type input_;
    std::shared_ptr<const plan::ExecutionPlan> plan_;
    exec::Executor executor_;
};

} // namespace weft::train
