// SPDX-License-Identifier: Apache-2.0
#include "core/train/sample_look/sample_looker.h"

#include "core/base/error.h"
#include "core/train/program_io.h"
#include "core/train/sample_look/step_values.h"

#include <algorithm>

namespace weft::train {
namespace {

/// The run on one device, a sample at a time.
compile::RunConfig for_one_sample(const compile::RunConfig& config) {
    auto out = compile::with_overrides(config, {R"(mesh={"devices":"cpu"})"});
    WEFT_CHECK(out.has_value(), "a run on a mesh is a run on one device");
    out->global_batch_size = 1;
    out->micro_batch_size.reset();
    return *std::move(out);
}

std::shared_ptr<const plan::ExecutionPlan>
plan_of_layers(const compile::RunConfig& config, const data::SampleInfo& sample, int threads) {
    compile::PipelineOptions options;
    options.backends = backends();
    options.threads = threads;
    options.texts = false;
    options.disabled_passes = {"fuse", "epilogues"};
    return std::make_shared<const plan::ExecutionPlan>(
        compile::compile_run(config, sample, options, compile::Scope::use));
}

} // namespace

SampleLooker::SampleLooker(const compile::RunConfig& config, const data::SampleInfo& sample,
                           exec::Executor& model, int threads)
    : config_(for_one_sample(config)), input_(sample.input),
      plan_(plan_of_layers(config_, sample, threads)),
      executor_(plan_, backends(), exec::ExecutorOptions{.threads = thread_count(threads)}) {
    initialise(executor_, config_);
    for (const plan::StateSlot& slot : plan_->state_slots) {
        const plan::StateSlot* from = model.plan().find_slot(slot.name);
        if (from != nullptr && from->whole == slot.whole) {
            executor_.write_slot(slot.name, model.read_slot(slot.name));
        }
    }
}

SampleLooker::~SampleLooker() = default;

SampleLook SampleLooker::run(std::string_view program, std::string_view input) {
    const plan::PlannedProgram* planned = plan_->find(program);
    WEFT_CHECK(planned != nullptr, "the program was asked for by its name");
    StepWatch watch(*planned, input);
    executor_.set_value_observer(&watch);
    executor_.run(program);
    executor_.set_value_observer(nullptr);
    return watch.take();
}

SampleLook SampleLooker::look(std::span<const std::byte> sample) {
    if (plan_->find("predict") == nullptr) {
        throw Error(ErrorKind::usage, "inside", "this model predicts nothing: it makes samples",
                    "Look into a model that takes samples.");
    }
    write_argument(executor_, "predict", "inputs", sample);
    SampleLook out = run("predict", "inputs");
    out.input = input_;
    out.sample.assign(sample.begin(), sample.end());
    return out;
}

SampleLook SampleLooker::look_at_text(std::span<const std::int32_t> tokens) {
    if (plan_->find("prefill") == nullptr) {
        throw Error(ErrorKind::usage, "inside", "this model does not write text",
                    "Look into it with a sample of its data.");
    }
    const plan::PlannedPort* port = find_argument(executor_, "prefill", "tokens");
    WEFT_CHECK(port != nullptr, "prefill takes tokens");
    const std::int64_t context = port->whole.shape[1];
    const auto count = std::min<std::int64_t>(context, std::ssize(tokens));
    const auto own = tokens.last(static_cast<std::size_t>(count));
    const plan::PlannedPort* logits = find_result(executor_, "prefill", "logits");
    WEFT_CHECK(logits != nullptr, "prefill gives logits");
    if (count == 0) {
        throw Error(ErrorKind::usage, "prompt", "holds no token to look at");
    }
    for (const std::int32_t token : own) {
        if (token < 0 || token >= logits->whole.shape.back()) {
            throw Error(ErrorKind::usage, "prompt", "holds a token outside the model's vocabulary");
        }
    }
    std::vector<std::int32_t> padded(static_cast<std::size_t>(context));
    std::copy(own.begin(), own.end(), padded.begin());
    write_argument(executor_, "prefill", "tokens", std::as_bytes(std::span(padded)));
    write_scalar(executor_, "prefill", "position", 0);
    SampleLook out = run("prefill", "tokens");
    for (const AttentionLook& one : out.attention) {
        if (one.queries > 1 && one.end.front() > 1) {
            throw Error(ErrorKind::usage, "inside",
                        "attention of '" + one.layer +
                            "' sees later tokens, which do not exist while text is written",
                        "Look into it with a sample of its data.");
        }
    }
    out.cut(context, count);
    out.tokens.assign(own.begin(), own.end());
    return out;
}

} // namespace weft::train
