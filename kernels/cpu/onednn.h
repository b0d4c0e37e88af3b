// SPDX-License-Identifier: Apache-2.0
// What kernels built on oneDNN share: one engine, a stream per kernel, steps that are created once
// and then only get new pointers. Scratch memory comes from the workspace, never from the library.
#pragma once

#include "kernels/op.h"

#include <dnnl.hpp>

namespace weft::kernels::cpu {

const dnnl::engine& cpu_engine();

/// f32 or bf16; throws UNSUPPORTED otherwise.
dnnl::memory::data_type onednn_type(std::int32_t dtype);

/// A buffer of a OneDnnKernel: an input, an output, or a piece of the workspace.
struct Buffer {
    enum class Kind { input, output, workspace } kind;
    int index; // operand, or number of the piece

    static Buffer input(int i) { return {Kind::input, i}; }
    static Buffer output(int i) { return {Kind::output, i}; }
};

/// A sequence of oneDNN primitives over the operands.
class OneDnnKernel final : public Kernel {
public:
    OneDnnKernel();

    /// A piece of workspace that holds `desc`.
    Buffer scratch(const dnnl::memory::desc& desc);
    struct Argument {
        int name; // DNNL_ARG_*
        dnnl::memory::desc desc;
        Buffer buffer;
    };
    /// Appends a primitive; `scratchpad` is its user-mode scratchpad description.
    void add(const dnnl::primitive& primitive, const dnnl::memory::desc& scratchpad,
             const std::vector<Argument>& arguments);
    /// Appends a change of format; nothing when both are the same.
    void add_reorder(const dnnl::memory::desc& from, Buffer source, const dnnl::memory::desc& to,
                     Buffer target);

    weft_status run(const weft_run_args& args) override;

private:
    struct Bound {
        dnnl::memory memory;
        Buffer buffer;
    };
    struct Step {
        dnnl::primitive primitive;
        std::vector<Bound> memories;
        std::vector<dnnl_exec_arg_t> arguments;
    };

    void* address(const weft_run_args& args, const Buffer& buffer) const;

    dnnl::stream stream_;
    std::vector<Step> steps_;
    std::vector<std::int64_t> offsets_; // of the workspace pieces
    int threads_;
};

/// Attributes that every primitive here is created with.
dnnl::primitive_attr onednn_attributes();

/// Calls `make`; oneDNN's "unimplemented" becomes UNSUPPORTED, so that the next kernel is asked.
template <class Make>
auto with_onednn(const Make& make) {
    try {
        return make();
    } catch (const dnnl::error& error) {
        throw Failure{error.status == dnnl_unimplemented ? WEFT_UNSUPPORTED : WEFT_LIBRARY_ERROR,
                      error.what()};
    }
}

} // namespace weft::kernels::cpu
