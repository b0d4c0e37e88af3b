// SPDX-License-Identifier: Apache-2.0
// Elementwise ops, fused groups and sweeps: a kernel is generated for each (group_source.h). A
// single op is a group of one and nothing is contracted across steps, so fusing changes no bit.
#include "kernels/cuda/cuda_list.h"
#include "kernels/cuda/group_source.h"
#include "kernels/cuda/launch.h"
#include "kernels/cuda/wrappers/program.h"

namespace weft::kernels::cuda {
namespace {

/// `row`: where the words of this tensor begin.
void put_addresses(const GroupSource& group, const Run& run, std::size_t tensor,
                   std::vector<std::uint64_t>& words, std::size_t row) {
    const std::size_t inputs = group.inputs.size();
    const std::size_t outputs = group.output_dtypes.size();
    for (std::size_t i = 0; i < inputs; ++i) {
        words[row + group.input_word(i)] =
            reinterpret_cast<std::uint64_t>(run.in(static_cast<int>(tensor * inputs + i)));
    }
    for (std::size_t o = 0; o < outputs; ++o) {
        words[row + group.output_word(o)] =
            reinterpret_cast<std::uint64_t>(run.out(static_cast<int>(tensor * outputs + o)));
    }
}

/// One launch for as many tensors as its table has rows.
class Sweep {
public:
    Sweep(const Op& op, GroupSource group)
        : group_(std::move(group)), program_(&compiled_program(group_.name, group_.text)),
          words_(group_.words()), counts_(elementwise_group(op).counts) {}

    void operator()(const Run& run) {
        for (std::size_t first = 0; first < counts_.size(); first += group_.rows) {
            launch(run, first, std::min(counts_.size(), first + group_.rows));
        }
    }

private:
    void launch(const Run& run, std::size_t first, std::size_t last) {
        std::uint64_t chunks = 0;
        bool packs = true;
        std::size_t row = group_.first_row();
        for (std::size_t tensor = first; tensor < last; ++tensor, row += group_.row_words()) {
            words_[row] = chunks;
            words_[row + 1] = static_cast<std::uint64_t>(counts_[tensor]);
            put_addresses(group_, run, tensor, words_, row);
            packs = packs && group_.packs(words_, row);
            chunks += static_cast<std::uint64_t>(ceil_divide(counts_[tensor], kSweepChunk));
        }
        words_[0] = chunks;
        words_[1] = last - first;
        words_[2] = packs ? 1 : 0;
        if (chunks > 0) {
            program_->launch(run.stream(), grid_over(static_cast<i64>(chunks) * 256), words_);
        }
    }

    GroupSource group_;
    const Program* program_;
    std::vector<std::uint64_t> words_;
    std::vector<std::int64_t> counts_;
};

} // namespace

Made make_elementwise(const Op& op) {
    const GroupSource group = group_source(op);
    if (group.rows > 0) {
        return launches(Sweep(op, group));
    }
    const Program* program = &compiled_program(group.name, group.text);
    const std::int64_t count = element_count(op.output(0));
    return launches([=, words = group.words()](const Run& run) mutable {
        put_addresses(group, run, 0, words, 0);
        const bool packs = group.packs(words, 0);
        words[0] = static_cast<std::uint64_t>(count);
        words[1] = static_cast<std::uint64_t>(packs ? count / group.pack * group.pack : 0);
        const Grid grid = grid_over(packs ? ceil_divide(count, group.pack) : count);
        if (grid.x > 0) {
            program->launch(run.stream(), grid, words);
        }
    });
}

} // namespace weft::kernels::cuda
