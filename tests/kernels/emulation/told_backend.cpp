// SPDX-License-Identifier: Apache-2.0
// The CUDA back end with kernels that tell the machine which bytes they touch.
#include "kernels/cuda/module.h"
#include "kernels/op.h"
#include "tests/kernels/emulation/machine.h"

#include <memory>
#include <utility>

namespace {

/// What a prepared kernel touches by its operands. weft_kernel belongs to the back end inside.
struct Told {
    weft_kernel* inner = nullptr;
    std::string name;
    std::vector<std::int64_t> input_bytes, output_bytes;
    std::int64_t workspace_bytes = 0;
};

Told* told(weft_kernel* kernel) {
    return reinterpret_cast<Told*>(kernel);
}

std::int64_t bytes_of(const weft_tensor_type& type) {
    return weft::kernels::element_count(type) * weft::kernels::dtype_size(type.dtype);
}

weft_status query(const weft_op_desc* desc, weft_query* result) {
    return weft_cuda_backend()->query(desc, result);
}

weft_status prepare(const weft_op_desc* desc, weft_kernel** kernel) {
    auto made = std::make_unique<Told>();
    weft_query answer{};
    weft_status status = query(desc, &answer);
    if (status == WEFT_OK) {
        status = weft_cuda_backend()->prepare(desc, &made->inner);
    }
    if (status != WEFT_OK) {
        return status;
    }
    made->name = desc->kind;
    made->workspace_bytes = answer.workspace_bytes;
    for (std::int32_t i = 0; i < desc->inputs; ++i) {
        made->input_bytes.push_back(bytes_of(desc->input_types[i]));
    }
    for (std::int32_t i = 0; i < desc->outputs; ++i) {
        made->output_bytes.push_back(bytes_of(desc->output_types[i]));
    }
    *kernel = reinterpret_cast<weft_kernel*>(made.release());
    return WEFT_OK;
}

weft_status run(weft_kernel* kernel, const weft_run_args* args) {
    const Told& own = *told(kernel);
    std::vector<weft::test::Access> accesses;
    const auto add = [&](const void* memory, std::int64_t bytes, bool writes) {
        const auto begin = reinterpret_cast<std::uintptr_t>(memory);
        accesses.push_back({begin, begin + static_cast<std::uintptr_t>(bytes), writes});
    };
    for (std::size_t i = 0; i < own.input_bytes.size(); ++i) {
        add(args->inputs[i], own.input_bytes[i], false);
    }
    for (std::size_t i = 0; i < own.output_bytes.size(); ++i) {
        add(args->outputs[i], own.output_bytes[i], true);
    }
    add(args->workspace, own.workspace_bytes, true);
    const weft::test::AccessScope scope(std::move(accesses), own.name);
    if (own.input_bytes.size() > 1 && own.name == weft::test::machine_options().wrong_op) {
        std::vector<const void*> inputs(args->inputs, args->inputs + own.input_bytes.size());
        std::swap(inputs[0], inputs[1]);
        const weft_run_args wrong{inputs.data(), args->outputs, args->workspace, args->stream};
        return weft_cuda_backend()->run(own.inner, &wrong);
    }
    return weft_cuda_backend()->run(own.inner, args);
}

void release(weft_kernel* kernel) {
    weft_cuda_backend()->release(told(kernel)->inner);
    delete told(kernel);
}

constexpr weft_backend kTold = {"cuda", query, prepare, run, release, weft_last_error};

} // namespace

const weft_backend* weft_emulated_backend() {
    return &kTold;
}
