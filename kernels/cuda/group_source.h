// SPDX-License-Identifier: Apache-2.0
// The source text of the kernel for an elementwise group, in the dialect. It depends on the steps,
// on the element types and on how operands broadcast, not on sizes, addresses or constants: those
// are the words that a launch hands over. So equal layers share a kernel.
#pragma once

#include "kernels/elementwise.h"
#include "kernels/weft_kernels.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft::kernels::cuda {

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
    /// What follows addresses in the words: extents and strides, then constants of steps.
    std::vector<std::uint64_t> parameters;

    /// The words of a launch: {count, elements in packs, inputs..., outputs..., parameters...}.
    std::vector<std::uint64_t> words(std::int64_t count) const;
    std::size_t input_word(std::size_t i) const { return 2 + i; }
    std::size_t output_word(std::size_t i) const { return 2 + inputs.size() + i; }
    /// Whether these addresses allow packs.
    bool packs(const std::vector<std::uint64_t>& words) const;
};

/// Throws Failure: UNSUPPORTED for types that groups do not compute in.
GroupSource group_source(const Op& op);

} // namespace weft::kernels::cuda
