// SPDX-License-Identifier: Apache-2.0
// The page of `weft plan` for people: the verdict first, then where memory and time go.
#include "core/base/text.h"
#include "core/plan/op_table.h"
#include "core/plan/plan.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>

namespace weft::plan {
namespace {

constexpr std::size_t kNameColumns = 16;
constexpr std::size_t kNumberColumns = 11;
constexpr std::size_t kMostOps = 8;
constexpr int kLeastColumns = 60;
constexpr int kMostBar = 32;

std::string fixed(double value, int digits) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", digits, value);
    return buffer;
}

/// Three significant digits: "0.42 ms", "81.3 ms", "1.24 s".
std::string milliseconds(double ms) {
    const double value = ms < 1000 ? ms : ms / 1000;
    const int digits = value < 10 ? 2 : value < 100 ? 1 : 0;
    return fixed(value, digits) + (ms < 1000 ? " ms" : " s");
}

/// "1.24 TFLOP"
std::string flop_text(double flops) {
    constexpr const char* kUnits[] = {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"};
    std::size_t unit = 0;
    while (flops >= 1000 && unit + 1 < std::size(kUnits)) {
        flops /= 1000;
        ++unit;
    }
    return fixed(flops, unit == 0 ? 0 : 2) + " " + kUnits[unit];
}

std::string left(std::string text, std::size_t columns) {
    text.resize(std::max(text.size(), columns), ' ');
    return text;
}

std::string right(const std::string& text, std::size_t columns) {
    return std::string(text.size() < columns ? columns - text.size() : 0, ' ') + text;
}

/// `text` in at most `columns`, cut at its end.
std::string cut(const std::string& text, std::size_t columns) {
    return text.size() <= columns ? text : text.substr(0, columns - 3) + "...";
}

class Page {
public:
    explicit Page(const PageStyle& style)
        : colour_(style.colour), columns_(std::max(style.columns, kLeastColumns)) {}

    void heading(const std::string& text, const std::string& remark = {}) {
        out_ += "\n" + painted(text, "1") + (remark.empty() ? "" : "  " + remark) + "\n";
    }
    void line(std::string text) {
        text.erase(text.find_last_not_of(' ') + 1);
        out_ += text + "\n";
    }
    /// Words in lines of the page's width: `first` blanks before the first line, `rest` before
    /// others.
    void sentence(const std::string& text, std::size_t first, std::size_t rest) {
        std::string current(first, ' ');
        for (const std::string& word : split(text, ' ')) {
            const bool begun = current.find_first_not_of(' ') != std::string::npos;
            if (begun && current.size() + 1 + word.size() > columns()) {
                line(std::move(current));
                current = std::string(rest, ' ') + word;
            } else {
                current += (begun ? " " : "") + word;
            }
        }
        line(std::move(current));
    }
    /// "  name      value  rest"
    void row(const std::string& name, const std::string& value, const std::string& rest = {}) {
        line("  " + left(name, kNameColumns) + right(value, kNumberColumns) +
             (rest.empty() ? "" : "  " + rest));
    }
    std::string painted(const std::string& text, const char* code) const {
        return colour_ ? "\033[" + std::string(code) + "m" + text + "\033[0m" : text;
    }
    /// A bar for a share of the longest one; `beside` columns of its line are taken.
    std::string bar(double share, std::size_t beside) const {
        const int room = std::clamp(columns_ - static_cast<int>(beside) - 1, 8, kMostBar);
        const int cells = static_cast<int>(std::lround(std::clamp(share, 0.0, 1.0) * room));
        std::string out;
        for (int i = 0; i < cells; ++i) {
            out += "\u2501";
        }
        return painted(out, "36");
    }
    std::size_t columns() const { return static_cast<std::size_t>(columns_); }
    std::string text() { return std::move(out_); }

private:
    bool colour_;
    int columns_;
    std::string out_;
};

void write_alternatives(Page& page, const std::vector<Alternative>& alternatives,
                        const std::function<std::string(const Alternative&)>& name,
                        const std::function<std::string(const Alternative&)>& remark) {
    std::int64_t most = 1;
    std::size_t widest = kNameColumns;
    for (const Alternative& alternative : alternatives) {
        most = std::max(most, alternative.peak_bytes);
        widest = std::max(widest, name(alternative).size());
    }
    const std::size_t beside = 2 + widest + 2 * kNumberColumns + 4;
    for (const Alternative& alternative : alternatives) {
        const std::string step = alternative.predicted_step_ms
                                     ? milliseconds(*alternative.predicted_step_ms)
                                     : std::string("-");
        const std::string note = remark(alternative);
        page.line("  " + left(name(alternative), widest) +
                  right(format_bytes(alternative.peak_bytes), kNumberColumns) +
                  right(step, kNumberColumns) + "  " +
                  page.bar(static_cast<double>(alternative.peak_bytes) / static_cast<double>(most),
                           beside + note.size()) +
                  (note.empty() ? "" : "  " + note));
    }
}

std::string settings_of(const Alternative& alternative) {
    std::string out;
    for (const std::string& assignment : alternative.overrides) {
        out += (out.empty() ? "--set " : " --set ") + assignment;
    }
    return out;
}

void write_verdict(Page& page, const ExecutionPlan& plan) {
    const std::string place = plan.device_title.empty() ? "this machine" : plan.device_title;
    const std::string need = "needs " + format_bytes(plan.device_bytes());
    if (!plan.limit_bytes) {
        page.line(page.painted("Planned", "1") + " for " + place + ": " + need);
        return;
    }
    const std::int64_t spare = *plan.limit_bytes - plan.device_bytes();
    const std::string of =
        " of " + format_bytes(*plan.limit_bytes) + " (" + plan.limit_basis + "), ";
    if (spare >= 0) {
        page.sentence(page.painted("Fits", "1;32") + " on " + place + ": " + need + of +
                          format_bytes(spare) + " to spare",
                      0, 2);
        return;
    }
    page.sentence(page.painted("Does not fit", "1;31") + " on " + place + ": " + need + of +
                      format_bytes(-spare) + " too much",
                  0, 2);
    if (plan.fixes.empty()) {
        page.sentence("No change of batch, precision or recompute makes it fit: use a smaller "
                      "model or a machine with more memory.",
                      2, 2);
        return;
    }
    page.heading("What makes it fit", "peak memory, predicted step");
    write_alternatives(page, plan.fixes, settings_of, [](const Alternative&) { return ""; });
}

void write_memory(Page& page, const ExecutionPlan& plan) {
    const PlannedProgram* program = largest_program(plan);
    if (program == nullptr) {
        return;
    }
    page.heading("Memory", "at the peak of " + program->name + ", " + peak_op(*program));
    const auto bytes = bytes_by_category(plan);
    const std::int64_t most =
        std::max<std::int64_t>(1, *std::max_element(bytes.begin(), bytes.end()));
    std::int64_t holes = plan.device_bytes();
    for (int i = 0; i < kCategories; ++i) {
        const std::int64_t amount = bytes[static_cast<std::size_t>(i)];
        holes -= amount;
        if (amount > 0) {
            page.row(std::string(category_name(static_cast<Category>(i))), format_bytes(amount),
                     page.bar(static_cast<double>(amount) / static_cast<double>(most),
                              kNameColumns + kNumberColumns + 4));
        }
    }
    if (holes > 0) {
        page.row("holes", format_bytes(holes), "between buffers of the arena");
    }
    page.row("all", format_bytes(plan.device_bytes()));
}

void write_step(Page& page, const ExecutionPlan& plan) {
    page.heading("Step");
    page.row("parameters", format_count(plan.parameters), format_thousands(plan.parameters));
    page.row("work", flop_text(plan.flops_per_step));
    page.row("predicted", plan.predicted_step_ms ? milliseconds(*plan.predicted_step_ms) : "-",
             plan.predicted_step_ms ? "give or take " + fixed(plan.predicted_error * 100, 0) + " %"
                                    : std::string());
    if (!plan.prediction_basis.empty()) {
        page.sentence(plan.prediction_basis, 2, 2);
    }
    for (const PlannedProgram& program : plan.programs) {
        std::string segments;
        for (const Segment& segment : program.segments) {
            segments += (segments.empty() ? "" : ", ") + segment.name;
            segments += segment.repeat > 1 ? " x " + std::to_string(segment.repeat) : "";
        }
        if (program.name == "train_step") {
            page.row("made of", std::to_string(program.segments.size()) + " parts", segments);
        }
    }
}

void write_curve(Page& page, const ExecutionPlan& plan) {
    if (plan.recompute_curve.size() < 2) { // nothing to trade, or not asked for
        return;
    }
    page.heading("Recompute", "peak memory, predicted step");
    write_alternatives(
        page, plan.recompute_curve, [](const Alternative& point) { return point.change; },
        [&](const Alternative& point) {
            return point.fits ? std::string() : std::string("does not fit");
        });
}

void write_ops(Page& page, const ExecutionPlan& plan) {
    const PlannedProgram* step = plan.find("train_step");
    if (step == nullptr) {
        return;
    }
    const bool timed = step->predicted_ms > 0;
    const auto groups = op_groups(*step);
    const auto weight = [&](const OpGroup& group) {
        return timed ? group.predicted_ms : group.flops;
    };
    double sum = 0;
    for (const OpGroup& group : groups) {
        sum += weight(group);
    }
    page.heading("Heaviest ops", timed ? "share of the predicted time" : "share of the FLOPs");
    const std::size_t shown = std::min(kMostOps, groups.size());
    std::size_t kernel = 0;
    for (std::size_t i = 0; i < shown; ++i) {
        kernel = std::max(kernel, std::min<std::size_t>(groups[i].kernel.size(), 26));
    }
    const std::size_t room = page.columns() - 2 - 7 - 2 - 9 - 2 - kernel;
    for (std::size_t i = 0; i < shown && sum > 0; ++i) {
        const OpGroup& group = groups[i];
        const std::string calls = fixed(group.calls, 0) + " x";
        page.line("  " + right(fixed(weight(group) / sum * 100, 1) + " %", 7) + "  " +
                  left(cut(group.name, room), room) + right(calls, 9) + "  " +
                  cut(group.kernel, kernel));
    }
}

/// Two columns of passes, in the order of work down the first, then the second.
void write_passes(Page& page, const ExecutionPlan& plan) {
    const auto sums = pass_sums(plan);
    if (sums.empty()) {
        return;
    }
    page.heading("Compiled", "in " + milliseconds(plan.compile_ms) + ", all programs together");
    const std::size_t rows = (sums.size() + 1) / 2;
    const auto cell = [&](std::size_t i) {
        return i < sums.size() ? left(sums[i].first, 20) + right(milliseconds(sums[i].second), 10)
                               : std::string();
    };
    for (std::size_t i = 0; i < rows; ++i) {
        page.line("  " + cell(i) + (i + rows < sums.size() ? "    " + cell(i + rows) : ""));
    }
}

void write_lines(Page& page, const std::string& title, const std::vector<std::string>& lines) {
    if (!lines.empty()) {
        page.heading(title);
    }
    for (const std::string& text : lines) {
        page.sentence(text, 2, 4);
    }
}

} // namespace

std::string to_text(const ExecutionPlan& plan, const PageStyle& style) {
    Page page(style);
    write_verdict(page, plan);
    write_memory(page, plan);
    write_step(page, plan);
    write_curve(page, plan);
    write_ops(page, plan);
    write_lines(page, "Slower than could be", plan.fallbacks);
    write_lines(page, "Assumed", plan.assumptions);
    write_passes(page, plan);
    return page.text();
}

std::string advice_text(const ExecutionPlan& plan, const std::vector<Alternative>& advice,
                        const PageStyle& style) {
    Page page(style);
    write_verdict(page, plan);
    const bool predicted = plan.predicted_step_ms.has_value();
    page.heading("Ways to run it", predicted
                                       ? "peak memory, predicted step; * nothing is better in both"
                                       : "peak memory; " + plan.prediction_basis);
    write_alternatives(
        page, advice,
        [&](const Alternative& way) {
            return (predicted && way.on_front ? "* " : "  ") + way.change;
        },
        [](const Alternative& way) {
            return way.fits ? std::string() : std::string("does not fit");
        });
    return page.text();
}

} // namespace weft::plan
