// SPDX-License-Identifier: Apache-2.0
// AdamW (adam.cpp) whose moments lie in eight bits between updates, in blocks with a scale each
// (Dettmers et al. 2022): two bytes of a parameter's number in place of eight. The update itself is
// made of f32, before the new moments are rounded. Small parameters keep theirs in f32.
#include "core/optim/moments.h"
#include "core/optim/optimizer_list.h"

#include <algorithm>

namespace weft::optim {
namespace {

using config::Json;

constexpr std::int64_t kLargestBlock = 256;
constexpr std::int64_t kSmallestBlock = 16; // smaller ones would cost more than they save

config::FieldTable adamw_8bit_fields() {
    config::FieldTable out = moment_fields(
        0.999, 0.01, "Pull towards zero, times the learning rate, apart from the moments.");
    out.push_back(config::integer_field(
                      "full_below", 4096,
                      "Parameters of fewer numbers keep their moments in f32: there is little to "
                      "save, and gains and biases are sensitive.")
                      .range(0, std::int64_t{1} << 40));
    return out;
}

/// The largest divisor of the last dimension that makes a block, or all of it.
std::int64_t block_of(const ir::Shape& parameter) {
    const std::int64_t last = parameter.back();
    for (std::int64_t block = std::min(kLargestBlock, last); block >= kSmallestBlock; --block) {
        if (last % block == 0) {
            return block;
        }
    }
    return last;
}

bool in_eight_bits(const Json& settings, const ir::Shape& parameter) {
    return parameter.rank() > 0 && parameter.elements() > 0 &&
           parameter.elements() >= settings.at("full_below").get<std::int64_t>();
}

std::vector<StateArray> adamw_8bit_arrays(const Json& settings, const ir::Shape& parameter) {
    if (!in_eight_bits(settings, parameter)) {
        return {{"m", parameter}, {"v", parameter}};
    }
    ir::Shape scales = parameter;
    scales[scales.rank() - 1] /= block_of(parameter);
    return {{"m", parameter, ir::DType::u8},
            {"m_scale", scales},
            {"v", parameter, ir::DType::u8},
            {"v_scale", scales}};
}

UpdateResult adamw_8bit_update(ops::Builder& b, const Json& settings, const UpdateInputs& in) {
    const ir::Shape shape = b.shape(in.parameter);
    if (!in_eight_bits(settings, shape)) {
        UpdateResult next = kAdamW.update(b, settings, in);
        for (std::size_t i = 0; i < next.state.size(); ++i) {
            next.state[i] = ops::select(b, in.stays, in.state[i], next.state[i]);
        }
        return next;
    }
    const auto blocks = [&](bool has_sign) {
        return ir::Attributes{{"block", block_of(shape)}, {"has_sign", has_sign}};
    };
    UpdateInputs wide = in;
    wide.state = {b.emit("dequantize", {in.state[0], in.state[1]}, blocks(true)),
                  b.emit("dequantize", {in.state[2], in.state[3]}, blocks(false))};
    const UpdateResult next = kAdamW.update(b, settings, wide);
    const auto kept = [&](std::size_t moment, bool has_sign) {
        const std::size_t first = 2 * moment;
        return b.emit_all("quantize",
                          {next.state[moment], in.stays, in.state[first], in.state[first + 1]},
                          blocks(has_sign));
    };
    const auto m = kept(0, true);
    const auto v = kept(1, false);
    return {next.parameter, {m[0], m[1], v[0], v[1]}};
}

} // namespace

const OptimizerDef kAdamW8bit = {.name = "adamw_8bit",
                                 .help = "AdamW whose moments take a quarter of the memory.",
                                 .default_learning_rate = 1e-3,
                                 .fields = adamw_8bit_fields,
                                 .check = nullptr,
                                 .state = nullptr,
                                 .prepare = corrected_scalars,
                                 .update = adamw_8bit_update,
                                 .arrays = adamw_8bit_arrays,
                                 .keeps_itself = true};

} // namespace weft::optim
