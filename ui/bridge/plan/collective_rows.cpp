// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/collective_rows.h"

#include "core/base/text.h"
#include "ui/bridge/convert.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <tuple>

namespace weft::ui {
namespace {

bool isCauseDigit(char c) {
    return c >= '0' && c <= '9';
}

/// "add at blocks.2, microbatch 3, for stage 1" -> 1
int stage_at_end(const std::string& cause) {
    const std::size_t at = cause.rfind("for stage ");
    return at == std::string::npos ? -1 : std::atoi(cause.c_str() + at + 10);
}

void addShare(CollectiveRow& row, const plan::Collective& one, int stage) {
    const int to = one.kind == "send_recv" ? stage_at_end(one.cause) : -1;
    auto found = std::find_if(row.shares.begin(), row.shares.end(), [&](const auto& share) {
        return share.stage == stage && share.to_stage == to;
    });
    if (found == row.shares.end()) {
        row.shares.push_back({one.kind, one.axes, stage, to, 0, 0});
        found = std::prev(row.shares.end());
    }
    found->sent_bytes += one.sent_bytes;
    found->count += one.count;
}

/// Heaviest first: by predicted time, without one by bytes.
bool heavier(const CollectiveRow& a, const CollectiveRow& b) {
    return std::pair(a.predicted_ms, a.sent_bytes) > std::pair(b.predicted_ms, b.sent_bytes);
}

} // namespace

CollectiveRows collectiveRows(const plan::ExecutionPlan& plan, int stage) {
    CollectiveRows all;
    std::vector<CollectiveRow>& out = all.rows;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known;
    for (const plan::PlannedProgram* program : plan.all_stages("train_step")) {
        std::int64_t sent = 0;
        for (const plan::Collective& one : plan::collectives(*program)) {
            const std::string what = withAnyNumber(one.what.empty() ? one.cause : one.what);
            const std::string why = withAnyNumber(one.why.empty() ? one.cause : one.why);
            const auto [found, is_new] =
                known.try_emplace({one.kind, join(one.axes, ","), what, why}, out.size());
            if (is_new) {
                out.push_back({one,
                               toQString(what),
                               toQString(why),
                               program->stage,
                               false,
                               0,
                               0,
                               0,
                               one.array_bytes,
                               false,
                               {},
                               {}});
            }
            CollectiveRow& row = out[found->second];
            row.many_stages = row.many_stages || row.stage != program->stage;
            row.count += one.count;
            row.predicted_ms += one.predicted_ms;
            row.sent_bytes += one.sent_bytes;
            row.mixed = row.mixed || row.array_bytes != one.array_bytes;
            row.array_bytes = std::max(row.array_bytes, one.array_bytes);
            if (program->stage == stage) {
                row.ops.push_back(one.position);
            }
            addShare(row, one, program->stage);
            all.executions += one.count;
            sent += one.sent_bytes;
        }
        all.sent_bytes = std::max(all.sent_bytes, sent);
    }
    std::stable_sort(out.begin(), out.end(), heavier);
    return all;
}

// No regular expression: a large pipeline has thousands.
std::string withAnyNumber(const std::string& cause) {
    std::string out;
    for (std::size_t i = 0; i < cause.size();) {
        std::size_t end = i;
        while (end < cause.size() && isCauseDigit(cause[end])) {
            ++end;
        }
        const bool whole =
            end == cause.size() || cause[end] == '.' || cause[end] == ',' || cause[end] == ' ';
        if (end > i && whole && out.ends_with("for stage ")) {
            out.replace(out.size() - 6, 6, "another stage");
        } else if (end > i && whole && (out.ends_with('.') || out.ends_with("microbatch "))) {
            out += '*';
        } else {
            end = std::max(end, i + 1);
            out.append(cause, i, end - i);
        }
        i = end;
    }
    return out;
}

} // namespace weft::ui
