// SPDX-License-Identifier: Apache-2.0
#include "app/cli/progress_view.h"

#include "core/base/machine.h"
#include "core/base/text.h"
#include "core/train/record/loader_watch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::cli {
namespace {

constexpr double kLiveSeconds = 0.1;  // between two paints of the live line
constexpr double kPlainSeconds = 1.0; // between two plain step lines
constexpr int kBarCells = 16;
constexpr double kMostInWhole = 1e7;

std::string number(double value, const char* format) {
    char text[64];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

// "validation/accuracy 91.2 %": shares as percent, everything else with four digits, or all before
// the point.
std::string metric_text(const std::string& name, double value) {
    const bool share = name.ends_with("accuracy");
    const bool whole = std::abs(value) >= 1e3 && std::abs(value) < kMostInWhole;
    return name + " " +
           (share   ? number(value * 100, "%.2f %%")
            : whole ? format_thousands(std::llround(value))
                    : number(value, "%.4g"));
}

std::string bar(double share) {
    const int full = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * kBarCells));
    std::string out;
    for (int i = 0; i < kBarCells; ++i) {
        out += i < full ? "━" : "─";
    }
    return out;
}

} // namespace

ProgressView::ProgressView(const Context& context, std::int64_t log_every)
    : live_(context.terminal), colour_(context.colour), columns_(context.columns),
      log_every_(std::max<std::int64_t>(1, log_every)), opening_(context) {}

void ProgressView::print_line(const std::string& text) {
    clear_live_line();
    std::printf("%s\n", text.c_str());
    std::fflush(stdout);
}

// A run that ends tells it as its error.
void ProgressView::show(const train::DivergenceEvent& event) {
    if (event.back_to < 0) {
        print_line("  weft divergence RUN shows what was found.");
        return;
    }
    clear_live_line();
    std::fflush(stdout);
    std::fprintf(stderr, "warning: %s\n", train::sentence_of(event).c_str());
}

void ProgressView::show(const train::SettingsEvent& event) {
    if (event.path == "training.log_every" && event.value.is_number_integer()) {
        log_every_ = std::max<std::int64_t>(1, event.value.get<std::int64_t>());
    }
    print_line("  step " + format_thousands(event.step) + ": " + event.path + " is now " +
               event.value.dump() + (event.replayed ? ", as before" : ""));
}

void ProgressView::clear_live_line() {
    if (line_is_open_) {
        std::printf("\r\033[K");
        line_is_open_ = false;
    }
}

std::string ProgressView::time_left() const {
    const std::int64_t done = last_.step - first_step_;
    if (total_steps_ <= 0 || done <= 0) {
        return "";
    }
    const double per_step = (clock_.steady_s() - first_step_s_) / static_cast<double>(done);
    return format_duration(
        per_step * static_cast<double>(std::max<std::int64_t>(0, total_steps_ - last_.step)));
}

// What a step line says, the most important first.
std::vector<std::string> ProgressView::step_parts() const {
    std::vector<std::string> parts;
    parts.push_back("step " + format_thousands(last_.step) +
                    (total_steps_ > 0 ? " / " + format_thousands(total_steps_) : ""));
    parts.push_back("loss " + number(last_.loss, "%.4f"));
    if (const std::string left = time_left(); !left.empty()) {
        parts.push_back(left + " left");
    }
    for (const auto& [name, value] : last_.metrics) {
        parts.push_back(metric_text(name.substr(name.find('/') + 1), value));
    }
    parts.push_back(
        format_thousands(std::llround(last_.tokens_per_s.value_or(last_.samples_per_s))) +
        (last_.tokens_per_s ? " tokens/s" : " samples/s"));
    parts.push_back("epoch " + number(last_.epoch, "%.2f"));
    return parts;
}

void ProgressView::show_step() {
    std::string text;
    // The last column stays free: a full line would wrap.
    const std::size_t room = live_
                                 ? static_cast<std::size_t>(std::max(20, columns_ - kBarCells - 3))
                                 : std::string::npos;
    for (const std::string& part : step_parts()) {
        if (text.size() + part.size() + 2 <= room) {
            text += (text.empty() ? "" : "  ") + part;
        }
    }
    if (!live_) {
        print_line(text);
        return;
    }
    const std::string cells = bar(
        total_steps_ > 0 ? static_cast<double>(last_.step) / static_cast<double>(total_steps_) : 0);
    std::printf("\r\033[K%s  %s",
                colour_ ? ("\033[36m" + cells + "\033[0m").c_str() : cells.c_str(), text.c_str());
    std::fflush(stdout);
    line_is_open_ = true;
}

void ProgressView::show(const train::StepEvent& event) {
    last_ = event;
    const double now_s = clock_.steady_s();
    if (first_step_ < 0) {
        first_step_ = event.step;
        first_step_s_ = now_s;
    }
    const bool is_last = event.step == total_steps_;
    const bool wanted = live_ || event.step % log_every_ == 0;
    if (is_last || (wanted && now_s - last_shown_s_ >= (live_ ? kLiveSeconds : kPlainSeconds))) {
        last_shown_s_ = now_s;
        show_step();
    }
}

void ProgressView::show(const train::StateEvent& event) {
    using train::RunState;
    total_steps_ = event.total_steps > 0 ? event.total_steps : total_steps_;
    if (event.state == RunState::running && event.total_steps > 0) {
        print_line("Training " + format_thousands(total_steps_) + " steps.");
    } else if (event.state == RunState::preparing && !event.phase.empty()) {
        print_line("Preparing: " + event.phase + ".");
    } else if (event.state == RunState::paused) {
        print_line("Paused" + (event.reason.empty() ? "" : ": " + event.reason) + ".");
    } else if (event.state == RunState::stopped) {
        print_line("Stopped" + (event.reason.empty() ? "" : ": " + event.reason) + ".");
        show_loading();
    }
}

// Worth a line where waiting for data has cost the run time.
void ProgressView::show_loading() {
    const train::LoaderVerdict verdict = train::judge_loader(loading_, read_machine().usable_cores);
    if (verdict.starved) {
        print_line("  " + verdict.text + (verdict.hint.empty() ? "" : " " + verdict.hint));
    }
}

void ProgressView::show_numbers(std::int64_t step, const train::Metrics& metrics) {
    std::string text = "  step " + format_thousands(step) + ": ";
    for (std::size_t i = 0; i < metrics.size(); ++i) {
        text += (i == 0 ? "" : ", ") + metric_text(metrics[i].first, metrics[i].second);
    }
    print_line(text);
}

void ProgressView::show(const train::RecordingEvent& event) {
    std::string text = event.path.empty()
                           ? "No step was recorded"
                           : format_thousands(event.steps) + " of " +
                                 format_thousands(event.asked) + " steps are recorded in " +
                                 event.path + "; `weft profile` says where their time went";
    if (!event.cut_short.empty()) {
        text += " (" + event.cut_short + ")";
    }
    print_line("Note: " + text + ".");
}

void ProgressView::show(const train::Event& event) {
    if (const auto* reading = std::get_if<train::OpeningEvent>(&event.payload)) {
        opening_.show(reading->opening, reading->seconds);
        return;
    }
    opening_.clear();
    if (const auto* step = std::get_if<train::StepEvent>(&event.payload)) {
        show(*step);
    } else if (const auto* loading = std::get_if<train::LoaderEvent>(&event.payload)) {
        train::add(*loading, loading_);
    } else if (const auto* state = std::get_if<train::StateEvent>(&event.payload)) {
        show(*state);
    } else if (const auto* evaluation = std::get_if<train::EvaluationEvent>(&event.payload)) {
        show_numbers(evaluation->step, evaluation->metrics);
    } else if (const auto* saved = std::get_if<train::CheckpointEvent>(&event.payload)) {
        print_line("  step " + format_thousands(saved->step) + ": saved " + saved->path + " (" +
                   format_bytes(saved->bytes) + ", training waited " +
                   number(saved->blocked_ms, "%.0f") + " ms)");
    } else if (const auto* resumed = std::get_if<train::ResumedEvent>(&event.payload)) {
        print_line("Resumed from " + resumed->from + ", step " + format_thousands(resumed->step) +
                   ".");
    } else if (const auto* skipped = std::get_if<train::SkippedEvent>(&event.payload)) {
        print_line("  step " + format_thousands(skipped->step) + ": skipped, " + skipped->reason +
                   (skipped->loss_scale == 1
                        ? ""
                        : " at the loss scale " + number(skipped->loss_scale, "%g")));
    } else if (const auto* found = std::get_if<train::DivergenceEvent>(&event.payload)) {
        show(*found);
    } else if (const auto* changed = std::get_if<train::SettingsEvent>(&event.payload)) {
        show(*changed);
    } else if (const auto* recording = std::get_if<train::RecordingEvent>(&event.payload)) {
        show(*recording);
    } else if (const auto* rank = std::get_if<train::RankEvent>(&event.payload)) {
        print_line("  " + train::sentence_of(*rank));
    } else if (const auto* note = std::get_if<train::NoteEvent>(&event.payload)) {
        print_line("Note: " + note->message);
    } else if (const auto* warning = std::get_if<train::WarningEvent>(&event.payload)) {
        clear_live_line();
        std::fflush(stdout);
        std::fprintf(stderr, "warning: %s %s\n", warning->message.c_str(), warning->hint.c_str());
    } else if (const auto* error = std::get_if<train::ErrorEvent>(&event.payload)) {
        clear_live_line();
        std::fflush(stdout);
        for (const train::WayOn& way : error->ways_on) {
            std::fprintf(stderr, "  way on: %s\n", way.label.c_str());
        }
    } else if (const auto* finished = std::get_if<train::FinishedEvent>(&event.payload)) {
        print_line("Finished " + format_thousands(finished->steps) + " steps in " +
                   format_duration(finished->seconds) + ".");
        show_loading();
        if (!finished->test.empty()) {
            show_numbers(finished->steps, finished->test);
        }
    }
}

} // namespace weft::cli
