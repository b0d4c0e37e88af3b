// SPDX-License-Identifier: Apache-2.0
#include "core/queue/view.h"

#include "core/base/text.h"
#include "core/config/pointer.h"
#include "core/queue/advance.h"
#include "core/train/record/run_folder.h"

#include <algorithm>

namespace weft::queue {
namespace {

using config::Json;

constexpr std::int64_t kTailBytes = 64 << 10; // of events: some hundred steps

/// The steps that the end of a run's log tells of: a long log is not read whole for one number.
std::vector<train::Event> last_steps(const Path& run) {
    const File log(run / "events.jsonl", File::Mode::read);
    const std::int64_t end = log.size();
    const std::string text = read_range(log, std::max<std::int64_t>(0, end - kTailBytes), end);
    std::vector<train::Event> out;
    for (const std::string& line : split(text, '\n')) {
        auto event = train::parse_event(line); // none: the first and the last may be torn
        if (event && std::holds_alternative<train::StepEvent>(event->payload)) {
            out.push_back(std::move(*event));
        }
    }
    return out;
}

void look_at_run(EntryView& view) {
    const train::RunInfo info = train::read_run_info(view.entry.run);
    view.until = view.entry.until_step.value_or(info.total_steps);
    const std::vector<train::Event> steps = last_steps(view.entry.run);
    if (steps.empty()) {
        return;
    }
    const auto& first = std::get<train::StepEvent>(steps.front().payload);
    const auto& last = std::get<train::StepEvent>(steps.back().payload);
    view.step = last.step;
    view.loss = last.loss;
    const double seconds = steps.back().time - steps.front().time;
    if (last.step > first.step && seconds > 0 && view.until >= last.step) {
        view.eta_s = seconds / static_cast<double>(last.step - first.step) *
                     static_cast<double>(view.until - last.step);
    }
}

/// Quoted where it has to be.
std::string csv_cell(const std::string& text) {
    if (text.find_first_of(",\"\r\n") == std::string::npos) {
        return text;
    }
    std::string out = "\"";
    for (const char c : text) {
        out += c == '"' ? "\"\"" : std::string(1, c);
    }
    return out + "\"";
}

std::string csv_line(const std::vector<std::string>& cells) {
    std::vector<std::string> quoted;
    for (const std::string& cell : cells) {
        quoted.push_back(csv_cell(cell));
    }
    return join(quoted, ",") + "\r\n";
}

std::string rung_name(const Sweep& sweep, std::size_t rung) {
    const std::int64_t steps = sweep.rungs[rung];
    return sweep.metric + " at " + (steps > 0 ? std::to_string(steps) : "the end");
}

} // namespace

std::vector<EntryView> view_entries(const Book& book) {
    std::vector<EntryView> out;
    for (const Entry& entry : book.entries) {
        EntryView view{entry, entry.saved_step, entry.until_step.value_or(0), {}, {}};
        if (entry.state == State::running && train::is_run_folder(entry.run)) {
            try {
                look_at_run(view);
            } catch (const Error&) {
                // It has just begun: there is nothing to see yet.
            }
        }
        out.push_back(std::move(view));
    }
    std::stable_sort(out.begin(), out.end(), [](const EntryView& a, const EntryView& b) {
        const bool a_ended = has_ended(a.entry.state);
        const bool b_ended = has_ended(b.entry.state);
        return a_ended != b_ended ? b_ended : a_ended && a.entry.ended > b.entry.ended;
    });
    return out;
}

SweepTable table_of(const Book& book, const Sweep& sweep) {
    SweepTable out;
    out.sweep = &sweep;
    const auto best = best_trial(sweep.rules(), progress_of(book, sweep));
    for (const std::size_t at : book.trials_of(sweep.name)) {
        TrialRow row;
        row.entry = &book.entries[at];
        row.at.resize(sweep.rungs.size());
        for (std::size_t i = 0; i < std::min(row.at.size(), row.entry->results.size()); ++i) {
            row.at[i] = row.entry->results[i].value;
        }
        row.best = best && *best == out.rows.size();
        out.ended += has_ended(row.entry->state) ? 1 : 0;
        out.rows.push_back(std::move(row));
    }
    if (!out.rows.empty()) {
        for (const auto& [path, value] : out.rows.front().entry->settings.items()) {
            out.settings.push_back(path);
        }
    }
    return out;
}

Json to_json(const EntryView& view) {
    Json out = to_json(view.entry);
    out["step"] = view.step;
    out["until"] = view.until;
    out["loss"] = view.loss ? Json(*view.loss) : Json(nullptr);
    out["eta_s"] = view.eta_s ? Json(*view.eta_s) : Json(nullptr);
    return out;
}

Json to_json(const SweepTable& table) {
    Json out = to_json(*table.sweep);
    Json rows = Json::array();
    for (const TrialRow& row : table.rows) {
        Json values = Json::array();
        for (const auto& value : row.at) {
            values.push_back(value ? Json(*value) : Json(nullptr));
        }
        rows.push_back({{"trial", row.entry->trial},
                        {"id", row.entry->id},
                        {"state", state_name(row.entry->state)},
                        {"reason", row.entry->reason},
                        {"run", row.entry->run},
                        {"step", row.entry->saved_step},
                        {"settings", row.entry->settings},
                        {"rung", row.entry->rung},
                        {"reached", row.entry->results.size()},
                        {"values", std::move(values)},
                        {"best", row.best}});
    }
    out["ended"] = table.ended;
    out["trials"] = std::move(rows);
    return out;
}

std::string to_csv(const SweepTable& table) {
    std::vector<std::string> names = {"trial", "id", "state", "reason", "run"};
    names.insert(names.end(), table.settings.begin(), table.settings.end());
    for (std::size_t i = 0; i < table.sweep->rungs.size(); ++i) {
        names.push_back(rung_name(*table.sweep, i));
    }
    std::string out = csv_line(names);
    for (const TrialRow& row : table.rows) {
        const Entry& entry = *row.entry;
        std::vector<std::string> cells = {std::to_string(entry.trial), std::to_string(entry.id),
                                          std::string(state_name(entry.state)), entry.reason,
                                          entry.run};
        for (const std::string& path : table.settings) {
            cells.push_back(value_text(entry.settings.value(path, Json(nullptr))));
        }
        for (const auto& value : row.at) {
            cells.push_back(value ? config::number_text(*value) : "");
        }
        out += csv_line(cells);
    }
    return out;
}

std::string state_text(const Entry& entry) {
    const std::string state(state_name(entry.state));
    return entry.reason.empty()              ? state
           : entry.reason.starts_with(state) ? entry.reason
                                             : state + ": " + entry.reason;
}

std::string value_text(const Json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

std::string settings_text(const Settings& settings) {
    std::vector<std::string> parts;
    for (const auto& [path, value] : settings) {
        parts.push_back(path + " " + value_text(value));
    }
    return join(parts, ", ");
}

std::string rungs_text(const Sweep& sweep) {
    std::vector<std::string> steps;
    for (const std::int64_t one : sweep.rungs) {
        steps.push_back(format_thousands(one));
    }
    return join(steps, ", ");
}

} // namespace weft::queue
