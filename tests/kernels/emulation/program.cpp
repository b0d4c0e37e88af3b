// SPDX-License-Identifier: Apache-2.0
#include "tests/kernels/emulation/program.h"

#include "kernels/cuda/wrappers/program.h"
#include "kernels/op.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
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

/// Of a model that is only planned.
class NotInTheBatch final : public Program {
public:
    explicit NotInTheBatch(std::string name) : name_(std::move(name)) {}
    void launch(weft_stream*, const Grid&, std::span<const std::uint64_t>) const override {
        throw Failure{WEFT_LIBRARY_ERROR, "the batch of generated kernels lacks " + name_};
    }

private:
    std::string name_;
};

const Program& missing_program(const std::string& name) {
    static std::mutex mutex;
    static std::map<std::string, NotInTheBatch> all;
    const std::lock_guard lock(mutex);
    return all.try_emplace(name, name).first->second;
}

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
    return found == programs.end() ? missing_program(name) : *found->second;
}

} // namespace weft::kernels::cuda
