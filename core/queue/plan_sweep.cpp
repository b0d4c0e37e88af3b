// SPDX-License-Identifier: Apache-2.0
#include "core/queue/plan_sweep.h"

#include "core/base/text.h"
#include "core/checkpoint/goal.h"
#include "core/train/record/run_summary.h"

#include <algorithm>

namespace weft::queue {
namespace {

using compile::Cadence;
using config::Diagnostics;

constexpr std::int64_t kTrials = 12; // where nobody says how many

[[noreturn]] void refuse_request(const std::string& where, const std::string& what,
                                 const std::string& hint) {
    throw Error(ErrorKind::usage, where, what, hint);
}

std::vector<Dimension> space_of(const SweepRequest& request) {
    if (request.vary.empty()) {
        refuse_request("--vary", "a sweep varies at least one setting",
                       "E.g. --vary optimizer.learning_rate=log:1e-4..1e-2.");
    }
    std::vector<Dimension> out;
    for (const std::string& text : request.vary) {
        out.push_back(parse_dimension(text));
        const auto same = [&](const Dimension& one) { return one.path == out.back().path; };
        if (std::count_if(out.begin(), out.end(), same) > 1) {
            refuse_request("--vary " + out.back().path, "the setting is varied twice", "");
        }
        const bool length = out.back().path.starts_with("training.length");
        if (length && (request.method == Method::halving || request.method == Method::asha)) {
            refuse_request("--vary " + out.back().path, "the length is what halving decides itself",
                           "Use --max-steps, or --method grid.");
        }
    }
    return out;
}

std::vector<Settings> trials_of_request(const SweepRequest& request,
                                        const std::vector<Dimension>& space) {
    if (request.method != Method::grid) {
        // A space that has fewer combinations than nobody asked for is taken as a whole.
        std::int64_t trials = request.trials.value_or(kTrials);
        const bool finite = std::all_of(space.begin(), space.end(), [](const Dimension& one) {
            return one.kind == Dimension::Kind::choices || one.kind == Dimension::Kind::integers;
        });
        if (!request.trials && finite) {
            std::vector<Dimension> plain = space;
            for (Dimension& one : plain) {
                one.points = 0; // a draw takes all whole numbers
            }
            trials = std::min(trials, *combinations(plain));
        }
        return draw_from(space, trials, request.seed);
    }
    std::vector<Settings> out = grid_of(space);
    if (request.trials && *request.trials != static_cast<std::int64_t>(out.size())) {
        refuse_request("--trials",
                       "a grid has all " + format_thousands(static_cast<std::int64_t>(out.size())) +
                           " combinations",
                       "Leave it out, or draw some of them: --method random.");
    }
    return out;
}

/// What all trials have beside what was asked for, so that they can be compared.
class CommonSettings {
public:
    CommonSettings(const SweepRequest& request, const compile::RunConfig& base,
                   const CountSteps& count, std::int64_t trials)
        : request_(request), base_(base) {
        judge_by_metric();
        if (request.max_steps) {
            set("training.length={\"steps\":" + std::to_string(*request.max_steps) + "}");
        }
        if (request.method == Method::halving || request.method == Method::asha) {
            lay_rungs(count, trials);
        } else {
            rungs = {request.max_steps ? *request.max_steps : count(base)};
        }
    }

    std::vector<std::string> overrides;
    std::vector<std::string> notes;
    std::vector<std::int64_t> rungs;
    std::string metric;
    bool smaller_is_better = true;

private:
    void set(const std::string& assignment) { overrides.push_back(assignment); }

    void judge_by_metric() {
        const checkpoint::Goal goal = checkpoint::goal_of(base_.document);
        metric = request_.metric.empty() ? goal.metric : request_.metric;
        smaller_is_better =
            request_.mode.empty()
                ? metric == goal.metric ? goal.smaller_is_better : train::smaller_is_better(metric)
                : request_.mode == "min";
        if (metric != goal.metric || smaller_is_better != goal.smaller_is_better) {
            set("checkpoint.metric=" + config::Json(metric).dump());
            set(std::string("checkpoint.mode=") + (smaller_is_better ? "min" : "max"));
            notes.push_back("checkpoint.metric is " + metric +
                            ": the best step of each trial is "
                            "by what the sweep judges");
        }
    }

    void lay_rungs(const CountSteps& count, std::int64_t trials) {
        const std::int64_t most = request_.max_steps ? *request_.max_steps : count(base_);
        if (most < 1) {
            refuse_request("training.length", "a length in minutes cannot be halved in steps",
                           "Say --max-steps.");
        }
        const std::int64_t least =
            request_.min_steps.value_or(least_of(trials, most, request_.eta));
        if (least > most) {
            refuse_request("--min-steps",
                           format_thousands(least) + " is more than the full length, " +
                               format_thousands(most) + " steps",
                           "The first rung is shorter.");
        }
        rungs = rungs_of(least, most, request_.eta);
        const Cadence& every = base_.evaluation_every;
        const auto steps = static_cast<std::int64_t>(every.amount);
        const bool fits = every.unit == Cadence::Unit::steps && steps > 0 && least % steps == 0;
        if (!fits && rungs.size() > 1) {
            set("evaluation.every={\"steps\":" + std::to_string(least) + "}");
            notes.push_back("evaluation.every is " + format_thousands(least) +
                            (least == 1 ? " step" : " steps") +
                            ": each rung ends with an evaluation");
        }
    }

    const SweepRequest& request_;
    const compile::RunConfig& base_;
};

void check_request(const SweepRequest& request) {
    if (request.eta < 2) {
        refuse_request("--eta", "one trial in " + std::to_string(request.eta) + " cannot go on",
                       "At least 2.");
    }
    for (const auto& [name, steps] : {std::pair("--min-steps", request.min_steps),
                                      std::pair("--max-steps", request.max_steps)}) {
        if (steps && *steps < 1) {
            refuse_request(name, "a trial takes at least one step", "");
        }
    }
    const bool halves = request.method == Method::halving || request.method == Method::asha;
    if (request.min_steps && !halves) {
        refuse_request("--min-steps", "only halving has rungs", "Use --method halving, or asha.");
    }
    if (request.name.find('/') != std::string::npos) {
        refuse_request("--name", "a name has no '/'", "");
    }
}

std::string name_of_trial(const std::string& sweep, std::size_t trial) {
    return sweep + "-" + std::to_string(trial);
}

} // namespace

PlannedSweep plan_sweep(const SweepRequest& request, const ReadRun& read, const CountSteps& count) {
    check_request(request);
    const std::vector<Dimension> space = space_of(request);
    const std::vector<Settings> drawn = trials_of_request(request, space);
    PlannedSweep out;
    // The first trial stands for all: a setting that does not exist is found here.
    compile::CheckedRun first = read(assignments_of(drawn.front()));
    out.diagnostics = std::move(first.diagnostics);
    if (!out.ok()) {
        return out;
    }
    const CommonSettings common(request, first.config, count,
                                static_cast<std::int64_t>(drawn.size()));
    out.notes = common.notes;
    for (const Settings& settings : drawn) {
        std::vector<std::string> overrides = assignments_of(settings);
        overrides.insert(overrides.end(), common.overrides.begin(), common.overrides.end());
        compile::CheckedRun checked = read(overrides);
        if (!checked.ok()) {
            out.diagnostics = std::move(checked.diagnostics);
            out.trials.clear();
            return out;
        }
        out.trials.push_back({settings, std::move(checked.config)});
    }
    out.sweep = {request.name.empty() ? first.config.name : request.name,
                 request.method,
                 request.vary,
                 request.seed,
                 common.metric,
                 common.smaller_is_better,
                 request.eta,
                 common.rungs,
                 0};
    return out;
}

Entry& add_run(Book& book, const Path& folder, const compile::RunConfig& config, double now_s) {
    Entry entry;
    entry.name = config.name;
    entry.base_dir = std::filesystem::absolute(config.base_dir).string();
    entry.devices = config.section("mesh").at("devices").get<std::string>();
    entry.added = now_s;
    Entry& out = book.add(std::move(entry));
    const Path file = config_file(folder, out.id);
    make_directories(file.parent_path());
    write_file_atomically(file, config.document.dump(2) + "\n");
    out.config = file.lexically_relative(folder).string();
    return out;
}

std::string add_sweep(const Path& folder, const PlannedSweep& planned, double now_s) {
    Sweep sweep = planned.sweep;
    sweep.created = now_s;
    change_book(folder, [&](Book& book) {
        const std::string wanted = sweep.name;
        for (int number = 2; book.find_sweep(sweep.name) != nullptr; ++number) {
            sweep.name = wanted + "-" + std::to_string(number);
        }
        for (std::size_t trial = 0; trial < planned.trials.size(); ++trial) {
            Entry& entry = add_run(book, folder, planned.trials[trial].config, now_s);
            entry.name = name_of_trial(sweep.name, trial);
            entry.sweep = sweep.name;
            entry.trial = static_cast<int>(trial);
            for (const auto& [path, value] : planned.trials[trial].settings) {
                entry.settings[path] = value;
            }
            if (sweep.halves() && sweep.rungs.size() > 1) {
                entry.until_step = sweep.rungs.front();
            }
        }
        book.sweeps.push_back(sweep);
    });
    return sweep.name;
}

} // namespace weft::queue
