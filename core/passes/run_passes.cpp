// SPDX-License-Identifier: Apache-2.0
#include "core/passes/run_passes.h"

#include "core/base/clock.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/ops/verify.h"

#include <algorithm>

namespace weft::passes {
namespace {

constexpr std::size_t kShownViolations = 5;

std::string first_of(std::vector<std::string> violations) {
    const std::size_t count = violations.size();
    violations.resize(std::min(count, kShownViolations));
    std::string text = join(violations, "; ");
    if (count > kShownViolations) {
        text += "; and " + std::to_string(count - kShownViolations) + " more";
    }
    return text;
}

} // namespace

std::vector<TimedPass> run_passes(ir::Program& program, std::span<const Pass> passes,
                                  const RunPassesOptions& options) {
    if (options.verify) {
        const auto violations = ops::verify(program);
        if (!violations.empty()) {
            throw Error(ErrorKind::usage, "program " + program.name, first_of(violations));
        }
    }
    const SystemClock clock;
    std::vector<TimedPass> times;
    for (const Pass& pass : passes) {
        if (options.stop.stop_requested()) {
            throw Error(ErrorKind::runtime, "program " + program.name,
                        "compilation was stopped before pass " + pass.name);
        }
        const auto& off = options.disabled;
        if (std::find(off.begin(), off.end(), pass.name) != off.end()) {
            continue;
        }
        const double start_s = clock.steady_s();
        pass.run(program);
        times.push_back({pass.name, (clock.steady_s() - start_s) * 1e3});
        if (options.verify) {
            const auto violations = ops::verify(program);
            WEFT_CHECK(violations.empty(), "pass " + pass.name + " broke program " + program.name +
                                               ": " + first_of(violations));
        }
        if (options.dump) {
            options.dump(program.name, pass.name, program);
        }
    }
    return times;
}

} // namespace weft::passes
