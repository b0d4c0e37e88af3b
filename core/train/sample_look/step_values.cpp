// SPDX-License-Identifier: Apache-2.0
#include "core/train/sample_look/step_values.h"

#include "core/base/check.h"
#include "kernels/numbers.h"

#include <algorithm>
#include <cstring>
#include <map>

namespace weft::train {
namespace {

constexpr std::string_view kAttentionOp = "attention";
constexpr std::string_view kCachedAttentionOp = "attention_cached";
constexpr std::int64_t kMostClassTokens = 16; // before the patches of a picture

bool attends(const plan::Step& step) {
    return step.op.kind == kAttentionOp || step.op.kind == kCachedAttentionOp;
}

template <typename Stored>
void widen_all(const std::byte* from, std::vector<float>& to) {
    for (std::size_t i = 0; i < to.size(); ++i) {
        Stored stored;
        std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
        if constexpr (std::is_arithmetic_v<Stored>) {
            to[i] = static_cast<float>(stored);
        } else {
            to[i] = kernels::to_float(stored);
        }
    }
}

/// Float values of any width as f32.
std::vector<float> floats(const exec::HostPart& part, const ir::Type& type) {
    std::vector<float> out(static_cast<std::size_t>(type.shape.elements()));
    switch (type.dtype) {
    case ir::DType::f32: widen_all<float>(part.data(), out); break;
    case ir::DType::f64: widen_all<double>(part.data(), out); break;
    case ir::DType::bf16: widen_all<kernels::bf16>(part.data(), out); break;
    case ir::DType::f16: widen_all<kernels::f16>(part.data(), out); break;
    default: WEFT_CHECK(false, "what layers put out are floats");
    }
    return out;
}

/// Without the dimension of samples, of which there is one. Of attention [T, H, D] as [T, H D];
/// what is neither a picture nor positions as rows of its last dimension.
ir::Shape shape_of_sample(const plan::Step& step) {
    const ir::Shape& whole = step.outputs.front().type.shape;
    ir::Shape out;
    for (int i = whole.rank() > 1 && whole[0] == 1 ? 1 : 0; i < whole.rank(); ++i) {
        out.push_back(whole[i]);
    }
    if (attends(step) && out.rank() == 3) {
        return {out[0], out[1] * out[2]};
    }
    return out.rank() > 3 ? ir::Shape{out.rows(), out.back()} : out;
}

/// What a layer does, in a few words: that it cuts, adds and rounds is said where it does no more.
std::string joined_names(const std::vector<std::string>& kinds) {
    constexpr std::string_view kAside[] = {"add", "cast", "slice", "broadcast", "cache_write"};
    std::string out;
    for (const std::string& kind : kinds) {
        if (std::find(std::begin(kAside), std::end(kAside), kind) == std::end(kAside)) {
            out += (out.empty() ? "" : ", ") + kind;
        }
    }
    return out.empty() ? kinds.back() : out;
}

/// Layers have paths that no part of a program beside the model has.
bool is_layer(std::string_view path) {
    return !path.empty() && path != "prediction" && path != "reconstruction" && path != "loss";
}

} // namespace

StepWatch::StepWatch(const plan::PlannedProgram& program, std::string_view input) {
    std::vector<bool> of_sample(program.buffers.size());
    for (const plan::PlannedPort& port : program.arguments) {
        if (port.name == input) {
            of_sample[static_cast<std::size_t>(port.operand.buffer)] = true;
        }
    }
    Steps makers;
    find_makers(program.steps, of_sample, makers);
    for (const plan::Step* step : makers) {
        makers_[step] = layers_.size();
        const std::string path(step->op.path);
        layers_.push_back({path, joined_names(kinds_[path]), shape_of_sample(*step)});
    }
    find_patches();
}

// What follows from the sample, and not from weights alone.
void StepWatch::find_makers(const std::vector<plan::Step>& steps, std::vector<bool>& of_sample,
                            Steps& makers) {
    for (const plan::Step& step : steps) {
        if (step.is_loop()) {
            find_makers(step.steps, of_sample, makers);
            continue;
        }
        const bool from_sample =
            std::any_of(step.inputs.begin(), step.inputs.end(), [&](const plan::Operand& one) {
                return one.buffer >= 0 && of_sample[static_cast<std::size_t>(one.buffer)];
            });
        if (!from_sample) {
            continue;
        }
        for (const plan::Operand& one : step.outputs) {
            of_sample[static_cast<std::size_t>(one.buffer)] = true;
        }
        if (attends(step)) {
            add_attention(step);
        }
        if (step.op.kind == "conv2d" && attention_.empty()) {
            grid_ = {step.outputs.front().type.shape[1], step.outputs.front().type.shape[2], 0};
        }
        const std::string_view path = step.op.path;
        const ir::Type& type = step.outputs.front().type;
        if (is_layer(path) && step.op.kind != "sweep" && ir::is_float(type.dtype) &&
            type.shape.rank() >= 2) {
            auto& kinds = kinds_[std::string(path)];
            std::string_view kind = step.op.kind;
            kind = attends(step) ? kAttentionOp : kind; // with a cache it is the same to a reader
            if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) {
                kinds.emplace_back(kind);
            }
            std::erase_if(makers, [path](const plan::Step* one) { return one->op.path == path; });
            makers.push_back(&step);
        }
    }
}

void StepWatch::add_attention(const plan::Step& step) {
    const ir::Shape& q = step.inputs[0].type.shape;
    const ir::Shape& k = step.inputs[1].type.shape;
    attenders_[&step] = attention_.size();
    attention_.push_back({std::string(step.op.path), q[1], k[1], q[2], k[2], q[3],
                          step.op.attributes.real("scale")});
}

// What a convolution made of a picture, [h, w, C], goes on as h w positions.
void StepWatch::find_patches() {
    if (attention_.empty() || grid_.rows == 0) {
        return;
    }
    const std::int64_t before = attention_.front().keys - grid_.rows * grid_.columns;
    if (before >= 0 && before <= kMostClassTokens) {
        patches_ = PatchGrid{grid_.rows, grid_.columns, before};
    }
}

void StepWatch::seen(const plan::Step& step, const exec::StepValues& values) {
    if (const auto found = makers_.find(&step); found != makers_.end()) {
        layers_[found->second].values = floats(values.output(0), step.outputs[0].type);
    }
    const auto found = attenders_.find(&step);
    if (found == attenders_.end()) {
        return;
    }
    AttentionLook& look = attention_[found->second];
    look.q = floats(values.input(0), step.inputs[0].type);
    look.k = floats(values.input(1), step.inputs[1].type);
    look.v = floats(values.input(2), step.inputs[2].type);
    look.out = floats(values.output(0), step.outputs[0].type);
    // The options of core/ops/attention.cpp: a mask, several sequences in a sample, a cache.
    const bool cached = step.op.kind == kCachedAttentionOp;
    const bool causal = cached || step.op.attributes.flag("causal");
    const bool packed = !cached && step.op.attributes.flag("packed", false);
    std::int64_t position = 0;
    if (cached) {
        const exec::HostPart at = values.input(3);
        std::memcpy(&position, at.data(), sizeof position);
    }
    std::vector<std::int32_t> own(static_cast<std::size_t>(look.queries));
    if (packed) {
        const exec::HostPart positions = values.input(3);
        std::memcpy(own.data(), positions.data(), own.size() * sizeof own.front());
    }
    look.first.assign(own.size(), 0);
    look.end.assign(own.size(), look.keys);
    for (std::int64_t t = 0; t < look.queries; ++t) {
        const auto at = static_cast<std::size_t>(t);
        look.first[at] = packed ? t - own[at] : 0;
        look.end[at] = causal ? std::min(look.keys, position + t + 1) : look.keys;
    }
}

SampleLook StepWatch::take() {
    SampleLook out;
    for (LayerLook& layer : layers_) {
        if (!layer.values.empty()) {
            out.layers.push_back({layer.layer, layer.kind, layer.shape, std::move(layer.values)});
        }
        layer.values.clear();
    }
    for (const AttentionLook& one : attention_) {
        if (!one.q.empty()) {
            out.attention.push_back(one);
        }
    }
    out.patches = patches_;
    return out;
}

} // namespace weft::train
