// SPDX-License-Identifier: Apache-2.0
#include "core/plan/op_table.h"

#include "core/base/text.h"

#include <algorithm>
#include <map>

namespace weft::plan {
namespace {

void add_rows(const std::vector<Step>& steps, double times, int& position,
              std::vector<OpRow>& out) {
    for (const Step& step : steps) {
        const int own = position++;
        if (step.is_loop()) {
            add_rows(step.steps, times * static_cast<double>(step.count), position, out);
        } else {
            out.push_back({&step, own, times, step.flops * times, step.bytes * times,
                           step.predicted_ms * times});
        }
    }
}

/// Of one word.
std::string any_number(const std::string& word) {
    std::vector<std::string> parts = split(word, '.');
    for (std::string& part : parts) {
        if (!part.empty() && part.find_first_not_of("0123456789") == std::string::npos) {
            part = "*";
        }
    }
    return join(parts, ".");
}

} // namespace

std::string any_layer(const std::string& path) {
    std::vector<std::string> words = split(path, ' ');
    for (std::string& word : words) {
        if (word.find('.') != std::string::npos) {
            word = any_number(word);
        }
    }
    return join(words, " ");
}

std::vector<OpRow> op_rows(const PlannedProgram& program) {
    std::vector<OpRow> rows;
    int position = 0;
    add_rows(program.steps, 1, position, rows);
    return rows;
}

std::vector<OpGroup> op_groups(const std::vector<const PlannedProgram*>& programs) {
    std::map<std::pair<std::string, std::string>, OpGroup> groups;
    std::vector<OpRow> rows;
    for (const PlannedProgram* program : programs) {
        for (OpRow& row : op_rows(*program)) {
            rows.push_back(std::move(row));
        }
    }
    for (const OpRow& row : rows) {
        const ir::Op& op = row.step->op;
        const std::string name =
            op.path.empty() ? op.kind.text() : op.kind + " at " + any_layer(op.path);
        OpGroup& group = groups[{name, row.step->kernel}];
        group.name = name;
        group.kernel = row.step->kernel;
        group.calls += row.times;
        group.flops += row.flops;
        group.predicted_ms += row.predicted_ms;
    }
    std::vector<OpGroup> out;
    for (auto& [key, group] : groups) {
        out.push_back(std::move(group));
    }
    std::stable_sort(out.begin(), out.end(), [](const OpGroup& a, const OpGroup& b) {
        return std::pair(a.predicted_ms, a.flops) > std::pair(b.predicted_ms, b.flops);
    });
    return out;
}

std::vector<std::pair<std::string, double>> pass_sums(const ExecutionPlan& plan) {
    std::vector<std::pair<std::string, double>> sums;
    for (const PassTime& time : plan.pass_times) {
        const auto found = std::find_if(sums.begin(), sums.end(),
                                        [&](const auto& sum) { return sum.first == time.pass; });
        if (found == sums.end()) {
            sums.emplace_back(time.pass, time.ms);
        } else {
            found->second += time.ms;
        }
    }
    return sums;
}

} // namespace weft::plan
