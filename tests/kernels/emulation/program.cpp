// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulation/program.h"

#include "kernels/cuda/wrappers/program.h"
#include "kernels/op.h"

#include <map>
#include <vector>

namespace weft::kernels::cuda {
namespace {

class CompiledByHost final : public Program {
public:
    explicit CompiledByHost(const test::CompiledGroup& group) : group_(group) {}
    void launch(weft_stream* stream, const Grid& grid,
                std::span<const std::uint64_t> words) const override {
        if (words.size() != group_.words) {
            throw Failure{WEFT_LIBRARY_ERROR, "a generated kernel got another number of words"};
        }
        emulate(stream, grid,
                [this, kept = std::vector<std::uint64_t>(words.begin(), words.end())] {
                    group_.run(kept.data());
                });
    }

private:
    const test::CompiledGroup& group_;
};

} // namespace

const Program& compiled_program(const std::string& name, const std::string&) {
    static const auto programs = [] {
        std::map<std::string, std::unique_ptr<CompiledByHost>> all;
        for (const test::CompiledGroup* group = test::kCompiledGroups; group->name != nullptr;
             ++group) {
            all[group->name] = std::make_unique<CompiledByHost>(*group);
        }
        return all;
    }();
    const auto found = programs.find(name);
    if (found == programs.end()) {
        throw Failure{WEFT_LIBRARY_ERROR, "the batch of generated kernels lacks " + name};
    }
    return *found->second;
}

} // namespace weft::kernels::cuda
