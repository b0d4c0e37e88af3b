// SPDX-License-Identifier: Apache-2.0
#include "core/queue/outcome.h"

#include "core/base/error.h"
#include "core/train/record/run_summary.h"

#include <charconv>
#include <cmath>

namespace weft::queue {
namespace {

namespace fs = std::filesystem;

constexpr int kExitSaved = 75;     // stopped on request, resumable
constexpr int kExitOfSignal = 128; // and its number

/// Names alone: a checkpoint is there as a whole, or hidden.
std::int64_t newest_step(const fs::path& run) {
    std::int64_t newest = -1;
    std::error_code problem;
    for (const auto& entry : fs::directory_iterator(run / "checkpoints", problem)) {
        const std::string name = entry.path().filename().string();
        std::int64_t step = -1;
        if (name.starts_with("step-")) {
            std::from_chars(name.data() + 5, name.data() + name.size(), step);
        }
        newest = std::max(newest, step);
    }
    return newest;
}

} // namespace

Judgement judge(const Entry& entry, const Ended& ended) {
    if (ended.run_state == "finished" ||
        (entry.until_step && ended.saved_step >= *entry.until_step)) {
        return {Outcome::reached, ""};
    }
    if (entry.stop) {
        return {Outcome::stopped, "on request"};
    }
    if (ended.leaving) {
        return {Outcome::again, ""};
    }
    if (ended.exit_code && (*ended.exit_code == kExitSaved || *ended.exit_code > kExitOfSignal)) {
        return {Outcome::stopped, "its run was stopped"};
    }
    if (ended.exit_code && *ended.exit_code != 0) {
        return {Outcome::failed, ended.message.empty()
                                     ? "it ended with exit code " + std::to_string(*ended.exit_code)
                                     : ended.message};
    }
    if (!ended.exit_code && !ended.message.empty()) {
        return {Outcome::failed, ended.message};
    }
    const bool further = ended.saved_step > entry.saved_step;
    if (ended.seen && !further && entry.attempts + 1 >= kMostAttempts) {
        return {Outcome::failed,
                "it died " + std::to_string(kMostAttempts) + " times without getting further"};
    }
    return {Outcome::again, "interrupted"};
}

Ended look_at(const Entry& entry) {
    Ended out;
    if (entry.run.empty() || !train::is_run_folder(entry.run)) {
        return out;
    }
    out.saved_step = newest_step(entry.run);
    try {
        const train::RunInfo info = train::read_run_info(entry.run);
        out.run_state = info.state;
        // What it failed of at an earlier start does not count.
        if (info.state == "failed" &&
            train::written_s(fs::path(entry.run) / "run.json") >= entry.started) {
            out.message = info.message.empty() ? "the run failed" : info.message;
        }
    } catch (const std::exception&) {
        // Not written yet, or torn: it goes on, or begins anew.
    }
    return out;
}

RungValue value_of(const fs::path& run, const std::string& metric,
                   std::optional<std::int64_t> step) {
    RungValue out;
    train::EventReader reader(run);
    for (std::vector<train::Event> events; !(events = reader.read(1 << 16)).empty();) {
        for (const train::Event& event : events) {
            const auto* evaluation = std::get_if<train::EvaluationEvent>(&event.payload);
            if (evaluation == nullptr || (step && evaluation->step > *step)) {
                continue;
            }
            for (const auto& [name, value] : evaluation->metrics) {
                if (name == metric) {
                    out.step = evaluation->step;
                    out.value = std::isfinite(value) ? std::optional(value) : std::nullopt;
                }
            }
        }
    }
    return out;
}

} // namespace weft::queue
