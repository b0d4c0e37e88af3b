// SPDX-License-Identifier: Apache-2.0
#include "core/train/audit/sample_features.h"

#include "core/train/program_io.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <cstring>

namespace weft::train {
namespace {

template <class Element, class Convert>
std::vector<float> converted(std::span<const std::byte> bytes, const Convert& convert) {
    std::vector<float> out(bytes.size() / sizeof(Element));
    for (std::size_t i = 0; i < out.size(); ++i) {
        Element element;
        std::memcpy(&element, bytes.data() + i * sizeof element, sizeof element);
        out[i] = convert(element);
    }
    return out;
}

/// The last one that reads [samples, features] and multiplies it.
const plan::Step* last_product(const std::vector<plan::Step>& steps, std::int64_t samples) {
    const plan::Step* out = nullptr;
    for (const plan::Step& step : steps) {
        const bool multiplies = !step.is_loop() && step.product_flops > 0 && !step.inputs.empty();
        const ir::Shape* shape = multiplies ? &step.inputs[0].type.shape : nullptr;
        if (shape != nullptr && shape->rank() == 2 && (*shape)[0] == samples) {
            out = &step;
        }
    }
    return out;
}

} // namespace

std::vector<float> floats_of(const ir::Type& type, std::span<const std::byte> bytes) {
    const auto plain = [](auto element) { return static_cast<float>(element); };
    switch (type.dtype) {
    case ir::DType::bf16:
        return converted<kernels::bf16>(bytes,
                                        [](kernels::bf16 v) { return kernels::to_float(v); });
    case ir::DType::f16:
        return converted<kernels::f16>(bytes, [](kernels::f16 v) { return kernels::to_float(v); });
    case ir::DType::f64: return converted<double>(bytes, plain);
    case ir::DType::i32: return converted<std::int32_t>(bytes, plain);
    case ir::DType::i64: return converted<std::int64_t>(bytes, plain);
    case ir::DType::f32: return converted<float>(bytes, plain);
    default: return converted<std::uint8_t>(bytes, plain);
    }
}

LayerBefore::LayerBefore(exec::Executor& executor) : executor_(executor) {
    const auto programs = executor.plan().all_stages("predict");
    const plan::PlannedPort* inputs = find_argument(executor, "predict", "inputs");
    if (programs.size() == 1 && inputs != nullptr && executor.plan().mesh.devices() == 1) {
        step_ = last_product(programs[0]->steps, inputs->whole.shape[0]);
    }
    if (step_ != nullptr) {
        type_ = step_->inputs[0].type;
        executor_.set_value_observer(this);
    }
}

LayerBefore::~LayerBefore() {
    if (step_ != nullptr) {
        executor_.set_value_observer(nullptr);
    }
}

std::vector<float> LayerBefore::row(std::size_t sample) const {
    const std::size_t bytes = bytes_.size() / static_cast<std::size_t>(type_.shape[0]);
    return floats_of(type_, std::span(bytes_).subspan(sample * bytes, bytes));
}

void LayerBefore::seen(const plan::Step& step, const exec::StepValues& values) {
    if (&step == step_) {
        const exec::HostPart part = values.input(0);
        bytes_.assign(part.data(), part.data() + part.size());
    }
}

} // namespace weft::train
