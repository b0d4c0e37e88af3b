// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/groups/group_inputs.h"

#include <cstring>

namespace weft::kernels::cpu {
namespace {

Input described(const Type& type, const Type& shape, const Dims& strides, bool number) {
    Input in{};
    in.dtype = type.dtype;
    in.size = dtype_size(type.dtype);
    in.load = load_run(type.dtype);
    if (in.load == nullptr) {
        unsupported("no f64 or i64 in groups");
    }
    if (number) {
        in.access = Access::scalar;
        return in;
    }
    if (same_shape(type, shape) || element_count(type) == element_count(shape)) {
        in.access = type.dtype == WEFT_F32 ? Access::direct : Access::converted;
        return in;
    }
    in.access = Access::strided;
    for (int d = 0; d < shape.rank; ++d) {
        const std::int64_t stride = strides[static_cast<std::size_t>(d)];
        if (shape.shape[d] == 1) {
            continue;
        }
        const int last = in.rank - 1;
        if (last >= 0 &&
            in.strides[last] == stride * shape.shape[d]) { // one run with the outer one
            in.shape[last] *= shape.shape[d];
            in.strides[last] = stride;
        } else {
            in.shape[in.rank] = shape.shape[d];
            in.strides[in.rank++] = stride;
        }
    }
    std::int64_t dense = 1;
    for (int d = in.rank; d-- > 0;) {
        in.dense[d] = dense;
        dense *= in.shape[d];
    }
    return in;
}

/// Elements start .. start + count of a broadcast input, run by run along its innermost dimension.
void load_runs(const Input& in, const unsigned char* data, std::int64_t start, std::int64_t count,
               float* to) {
    const int inner = in.rank - 1;
    while (count > 0) {
        std::int64_t offset = 0;
        for (int d = 0; d < in.rank; ++d) {
            offset += start / in.dense[d] % in.shape[d] * in.strides[d];
        }
        const std::int64_t run = std::min(count, in.shape[inner] - start % in.shape[inner]);
        if (in.strides[inner] == 0) {
            float value = 0.0f;
            in.load(data + offset * in.size, &value, 1);
            fill_run(to, value, run);
        } else {
            in.load(data + offset * in.size, to, run);
        }
        start += run;
        to += run;
        count -= run;
    }
}

} // namespace

std::vector<Input> describe_inputs(const Op& op, const Group& group) {
    std::vector<Input> out;
    for (std::size_t i = 0; i < group.inputs(); ++i) {
        out.push_back(described(op.input(static_cast<int>(i)), group.shape, group.strides[i],
                                group.numbers[i]));
    }
    return out;
}

void require_brief_types(const Op& op, const Group& group) {
    for (int i = 0; i < static_cast<int>(group.outputs()); ++i) {
        if (store_run(op.output(i).dtype) == nullptr) {
            unsupported("groups write f32, bf16 and f16 only");
        }
    }
    for (const Step& step : group.steps) {
        if (step.dtype != WEFT_F32 && round_run(step.dtype) == nullptr) {
            unsupported("groups compute in f32 only");
        }
    }
}

// A short row that repeats (a bias) is read once and then copied.
void load_strided(const Input& in, const void* data, std::int64_t start, std::int64_t count,
                  float* to) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    const bool repeats = in.rank == 2 && in.strides[0] == 0 && in.strides[1] == 1;
    const std::int64_t period = repeats ? std::min(in.shape[1], count) : count;
    load_runs(in, bytes, start, period, to);
    for (std::int64_t filled = period; filled < count; filled *= 2) {
        std::memcpy(to + filled, to,
                    static_cast<std::size_t>(std::min(filled, count - filled)) * 4);
    }
}

} // namespace weft::kernels::cpu
