// SPDX-License-Identifier: Apache-2.0
// The source text of the kernel for an elementwise group, in the dialect. It depends on the steps,
// on the element types and on how operands broadcast, not on sizes, addresses or constants: those
// are the words that a launch hands over. So equal layers share a kernel. The kernel of a sweep
// gets a table with a row for each tensor; a block takes chunks of whichever tensor they belong to.
#pragma once

#include "kernels/elementwise.h"
#include "kernels/weft_kernels.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::kernels::cuda {

/// Elements of a tensor that a block of a sweep takes at once.
inline constexpr std::int64_t kSweepChunk = 8192;

/// How an input is read: in place, as one number, or walked by strides over dimensions that have
/// been merged where possible.
struct GroupInput {
    enum class Kind { direct, scalar, strided } kind = Kind::direct;
    /// What a pack of a strided input is: consecutive elements, one of them, or any.
    enum class Pack { run, one, each } pack = Pack::each;
    std::int32_t dtype = WEFT_F32;
    Dims shape, dense, strides; // of the merged dimensions, outermost first
};

struct GroupSource {
    std::string name; // of the entry point: made of the text, so that a name stands for one kernel
    std::string text;
    int pack = 4;      // elements that a thread takes at once where addresses allow
    bool wide = false; // 64-bit indices
    std::vector<GroupInput> inputs;
    std::vector<std::int32_t> output_dtypes;
    /// What the text asks for beside sizes and addresses: extents and strides, constants of steps.
    std::vector<std::uint64_t> parameters;
    std::size_t rows = 0; // of a sweep's table; 0: a group of one tensor

    /// The words of a launch over one tensor: {count, elements in packs, inputs..., outputs...,
    /// parameters...}; of a sweep: {chunks, tensors, whether in packs, parameters..., table}. A row
    /// of the table is {chunks of rows before it, count, inputs..., outputs...}.
    std::vector<std::uint64_t> words() const;
    std::size_t input_word(std::size_t i) const { return 2 + i; } // in the words, or in a row
    std::size_t output_word(std::size_t i) const { return 2 + inputs.size() + i; }
    std::size_t row_words() const { return output_word(output_dtypes.size()); }
    std::size_t first_row() const { return rows == 0 ? 0 : 3 + parameters.size(); }
    /// Whether these addresses allow packs. `row`: where theirs begin.
    bool packs(const std::vector<std::uint64_t>& words, std::size_t row) const;
};

/// Throws Failure: UNSUPPORTED for types that groups do not compute in.
GroupSource group_source(const Op& op);

} // namespace weft::kernels::cuda
