// SPDX-License-Identifier: Apache-2.0
#include "kernels/cpu/onednn.h"

#include <omp.h>

namespace weft::kernels::cpu {
namespace {

/// Primitives carry the team size that they were created for; running them on another team is not
/// defined, so a run puts it back for its duration.
class TeamGuard {
public:
    explicit TeamGuard(int threads) : before_(omp_get_max_threads()) {
        if (before_ != threads) {
            omp_set_num_threads(threads);
        }
    }
    TeamGuard(const TeamGuard&) = delete;
    TeamGuard& operator=(const TeamGuard&) = delete;
    ~TeamGuard() {
        if (omp_get_max_threads() != before_) {
            omp_set_num_threads(before_);
        }
    }

private:
    int before_;
};

} // namespace

const dnnl::engine& cpu_engine() {
    static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
    return engine;
}

dnnl::memory::data_type onednn_type(std::int32_t dtype) {
    if (dtype != WEFT_F32 && dtype != WEFT_BF16) {
        unsupported("oneDNN kernels take f32 and bf16 only");
    }
    return dtype == WEFT_F32 ? dnnl::memory::data_type::f32 : dnnl::memory::data_type::bf16;
}

dnnl::primitive_attr onednn_attributes() {
    dnnl::primitive_attr attributes;
    attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
    return attributes;
}

OneDnnKernel::OneDnnKernel() : stream_(cpu_engine()), threads_(omp_get_max_threads()) {}

Buffer OneDnnKernel::scratch(const dnnl::memory::desc& desc) {
    offsets_.push_back(workspace_bytes_);
    workspace_bytes_ += round_up_to_line(static_cast<std::int64_t>(desc.get_size()));
    return {Buffer::Kind::workspace, static_cast<int>(offsets_.size()) - 1};
}

void OneDnnKernel::add(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
                       const std::vector<Argument>& arguments) {
    Step step{primitive, {}, {}};
    std::vector<Argument> all = arguments;
    if (scratchpad.get_size() > 0) {
        all.push_back({DNNL_ARG_SCRATCHPAD, scratchpad, scratch(scratchpad)});
    }
    for (const Argument& argument : all) {
        step.memories.push_back(
            {dnnl::memory(argument.desc, cpu_engine(), DNNL_MEMORY_NONE), argument.buffer});
        step.arguments.push_back({argument.name, step.memories.back().memory.get()});
    }
    steps_.push_back(std::move(step));
}

void OneDnnKernel::add_reorder(const dnnl::memory::desc& from, Buffer source,
                               const dnnl::memory::desc& to, Buffer target) {
    const dnnl::reorder::primitive_desc desc(cpu_engine(), from, cpu_engine(), to,
                                             onednn_attributes());
    add(dnnl::reorder(desc), desc.scratchpad_desc(),
        {{DNNL_ARG_FROM, from, source}, {DNNL_ARG_TO, to, target}});
}

void* OneDnnKernel::address(const weft_run_args& args, const Buffer& buffer) const {
    const auto index = static_cast<std::size_t>(buffer.index);
    switch (buffer.kind) {
    case Buffer::Kind::input: // oneDNN has no pointer to const; arguments named as sources are only
                              // read
        return const_cast<void*>(args.inputs[index]);
    case Buffer::Kind::output: return args.outputs[index];
    default: return static_cast<unsigned char*>(args.workspace) + offsets_[index];
    }
}

weft_status OneDnnKernel::run(const weft_run_args& args) {
    const TeamGuard team(threads_);
    for (Step& step : steps_) {
        for (Bound& bound : step.memories) {
            bound.memory.set_data_handle(address(args, bound.buffer));
        }
        const dnnl_status_t status =
            dnnl_primitive_execute(step.primitive.get(), stream_.get(),
                                   static_cast<int>(step.arguments.size()), step.arguments.data());
        if (status != dnnl_success) {
            return fail(WEFT_LIBRARY_ERROR, "oneDNN could not run a primitive");
        }
    }
    return WEFT_OK;
}

} // namespace weft::kernels::cpu
