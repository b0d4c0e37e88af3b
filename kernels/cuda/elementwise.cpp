// SPDX-License-Identifier: Apache-2.0
// Elementwise ops and fused groups: a kernel is generated for each (group_source.h). A single op is
// a group of one and nothing is contracted across steps, so fusing changes no bit.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/group_source.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/wrappers/program.h"

namespace weft::kernels::cuda {

Made make_elementwise(const Op& op) {
    const GroupSource group = group_source(op);
    const Program* program = &compiled_program(group.name, group.text);
    const std::int64_t count = element_count(op.output(0));
    return launches([=, words = group.words(count)](const Run& run) mutable {
        for (std::size_t i = 0; i < group.inputs.size(); ++i) {
            words[group.input_word(i)] =
                reinterpret_cast<std::uint64_t>(run.in(static_cast<int>(i)));
        }
        for (std::size_t o = 0; o < group.output_dtypes.size(); ++o) {
            words[group.output_word(o)] =
                reinterpret_cast<std::uint64_t>(run.out(static_cast<int>(o)));
        }
        const bool packs = group.packs(words);
        words[1] = static_cast<std::uint64_t>(packs ? count / group.pack * group.pack : 0);
        const Grid grid = grid_over(packs ? ceil_divide(count, group.pack) : count);
        if (grid.x > 0) {
            program->launch(run.stream(), grid, words);
        }
    });
}

} // namespace weft::kernels::cuda
