// SPDX-License-Identifier: Apache-2.0
// From an op of a program to a prepared kernel: the description that the C edge reads, the ordered
// choice of a back end, and the kernel's life as one owning object. Shared by every executor.
#pragma once

#include "core/ir/program.h"
#include "kernels/weft_kernels.h"

#include <span>
#include <string>
#include <vector>

namespace weft::exec {

/// The weft_op_desc of one op and everything that it points to. Keeps copies: program and op may
/// go.
class KernelDesc {
public:
    /// `op` is a leaf op or `fused` (whose body becomes the step list); never `repeat`.
    KernelDesc(const ir::Program& program, const ir::Op& op);
    KernelDesc(KernelDesc&&) = default;
    KernelDesc& operator=(KernelDesc&&) = default;
    KernelDesc(const KernelDesc&) = delete;
    KernelDesc& operator=(const KernelDesc&) = delete;

    const weft_op_desc& desc() const { return desc_; }
    /// "linear at layers.0": the place named in errors.
    const std::string& where() const { return where_; }

private:
    void add_attributes();
    void add_steps(const ir::Program& program, const ir::Op& op);

    std::string where_;
    ir::Attributes attributes_;
    std::vector<weft_tensor_type> inputs_;
    std::vector<weft_tensor_type> outputs_;
    std::vector<weft_attribute> attribute_list_;
    std::vector<weft_elementwise_step> steps_;
    std::vector<std::int32_t> registers_;
    weft_op_desc desc_{};
};

/// A back end that can run an op, and what it said about it.
struct Candidate {
    const weft_backend* backend = nullptr;
    std::int64_t workspace_bytes = 0;
    std::string kernel_name; // "onednn matmul", "reference matmul"
};

/// The back ends that can run the op, in the given order; empty when none can. Throws weft::Error
/// {device} when one fails in another way than "unsupported".
std::vector<Candidate> candidates(const KernelDesc& call,
                                  std::span<const weft_backend* const> order);
/// The first candidate. Throws weft::Error{runtime} naming op and types when there is none.
Candidate choose_backend(const KernelDesc& call, std::span<const weft_backend* const> order);

/// A prepared kernel; released with the object. One thread at a time.
class Kernel {
public:
    /// Prepares the op on a chosen back end. Throws weft::Error{memory or device}.
    Kernel(const KernelDesc& call, const Candidate& candidate);
    ~Kernel();
    Kernel(Kernel&& other) noexcept;
    Kernel& operator=(Kernel&& other) noexcept;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;

    /// Runs once, or is queued on a stream; pointers in operand order, workspace of at least
    /// workspace_bytes(), 64-byte aligned. Allocates nothing. Throws weft::Error{device} with the
    /// library's own text.
    void run(const void* const* inputs, void* const* outputs, void* workspace,
             weft_stream* stream = nullptr) const;

    std::int64_t workspace_bytes() const { return workspace_bytes_; }
    const std::string& name() const { return name_; } // of the kernel, for plan and profiler
    const char* backend_name() const { return backend_->name; }

private:
    const weft_backend* backend_ = nullptr;
    weft_kernel* kernel_ = nullptr;
    std::int64_t workspace_bytes_ = 0;
    std::string name_;
    std::string where_;
};

} // namespace weft::exec
