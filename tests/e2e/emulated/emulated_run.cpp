// SPDX-License-Identifier: Apache-2.0
#include "tests/e2e/emulated/emulated_run.h"

#include "core/train/engine.h"
#include "tests/kernels/emulation/collectives.h"
#include "tests/kernels/emulation/machine.h"

#include <numeric>
#include <utility>

namespace weft::test {
namespace {

data::LoaderOptions batches_of(const compile::RunConfig& config) {
    data::LoaderOptions out;
    out.batch_size = config.global_batch_size;
    return out;
}

} // namespace

exec::Compute emulated(int devices) {
    std::vector<int> numbers(static_cast<std::size_t>(devices));
    std::iota(numbers.begin(), numbers.end(), 0);
    return {{weft_emulated_backend()},
            weft_emulated_platform(),
            weft_emulated_collectives(),
            std::move(numbers)};
}

SteppedRun::SteppedRun(const compile::RunConfig& config, const exec::Compute& compute,
                       std::shared_ptr<const plan::ExecutionPlan> plan,
                       exec::ExecutorOptions options)
    : executor_(std::move(plan), compute, options), data_(train::open_run_data(config)),
      loader_(data_.train, data::Sampler(data_.train->samples(), true, config.seed),
              batches_of(config), {}),
      update_(executor_, config, 100) {
    train::initialise(executor_, config);
}

double SteppedRun::step() {
    update_.start(*loader_.next(), steps_++, 1.0, {});
    return update_.numbers().loss;
}

} // namespace weft::test
