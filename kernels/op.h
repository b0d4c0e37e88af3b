// SPDX-License-Identifier: Apache-2.0
// What every kernel of every back end sees: a checked view of an op's description, the base class
// of a prepared kernel, and the row of a dispatch table. Internal to kernels/; the edge is
// weft_kernels.h.
#pragma once

#include "kernels/weft_kernels.h"

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace weft::kernels {

/// Why a kernel cannot be made. Thrown only between query/prepare and the edge, which catches it.
struct Failure {
    weft_status status;
    std::string text;
};

[[noreturn]] void unsupported(const std::string& text);
/// Throws WEFT_BAD_ARGUMENT unless `condition`.
void require(bool condition, const char* text);
/// Text for weft_last_error of this thread; returns `status`, so that a run can end with it. Does
/// not allocate: longer texts are cut.
weft_status fail(weft_status status, const char* text);

using Type = weft_tensor_type;
using Dims = std::vector<std::int64_t>;

Dims shape_of(const Type& type);
std::int64_t element_count(const Type& type);
/// Bytes of one element.
std::int64_t dtype_size(std::int32_t dtype);
bool same_shape(const Type& a, const Type& b);
/// Size of the last dimension (1 for a scalar), and the number of such rows.
std::int64_t last_dim(const Type& type);
std::int64_t row_count(const Type& type);
/// Strides, in elements of `from`, that walk it in the order of `to`'s dimensions under
/// right-aligned broadcasting (0 where it repeats). Throws BAD_ARGUMENT when it does not broadcast
/// to `to`.
Dims broadcast_strides(const Type& from, const Type& to);
Dims dense_strides(const Dims& shape);

/// A description whose counts, ranks, types and sizes have been checked. Valid only during prepare.
class Op {
public:
    explicit Op(const weft_op_desc& desc);

    const weft_op_desc& desc() const { return desc_; }
    std::string_view kind() const { return desc_.kind; }
    int inputs() const { return desc_.inputs; }
    int outputs() const { return desc_.outputs; }
    /// Throw BAD_ARGUMENT when there is no such operand.
    const Type& input(int i) const;
    const Type& output(int i) const;
    std::span<const weft_elementwise_step> steps() const;
    std::int32_t output_register(int i) const;

    bool has(std::string_view name) const { return find(name) != nullptr; }
    bool flag(std::string_view name) const; // false when absent
    std::int64_t integer(std::string_view name) const;
    double real(std::string_view name) const;
    double real(std::string_view name, double fallback) const;
    std::string_view text(std::string_view name) const; // "" when absent
    Dims list(std::string_view name) const;             // a lone integer is a list of one

private:
    const weft_attribute* find(std::string_view name) const;
    const weft_attribute& get(std::string_view name) const;

    const weft_op_desc& desc_;
};

/// A kernel after prepare: everything that depends on shapes is done; run allocates nothing.
class Kernel {
public:
    Kernel() = default;
    Kernel(const Kernel&) = delete;
    Kernel& operator=(const Kernel&) = delete;
    virtual ~Kernel() = default;
    virtual weft_status run(const weft_run_args& args) = 0;
    std::int64_t workspace_bytes() const { return workspace_bytes_; }

protected:
    std::int64_t workspace_bytes_ = 0;
};

/// One row of a back end's list. `make` throws Failure{UNSUPPORTED} to pass the op on to the next
/// row.
struct KernelEntry {
    const char* op;                      // op kind
    const char* name;                    // for plan and profiler
    int min_inputs, max_inputs, outputs; // -1: any number
    std::unique_ptr<Kernel> (*make)(const Op& op);
};

/// Rounds up to a cache line, so that pieces of a workspace do not share one.
constexpr std::int64_t round_up_to_line(std::int64_t bytes) {
    return (bytes + 63) / 64 * 64;
}

} // namespace weft::kernels
