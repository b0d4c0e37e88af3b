// SPDX-License-Identifier: Apache-2.0
// What a mesh makes of a run, for people: axes and rules, tensors, exchanges, what does not divide.
#include "core/base/text.h"
#include "core/ir/text.h"
#include "core/plan/op_table.h"
#include "core/plan/sections.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace weft::plan {
namespace {

constexpr std::size_t kMostTensors = 16;
constexpr std::size_t kMostExchanges = 16;
constexpr std::size_t kMostFindings = 8;
constexpr std::size_t kBytesColumns = 11;

std::string times(std::size_t count) {
    return count > 1 ? " x" + std::to_string(count) : "";
}

/// "device (d, m) = d * 4 + m"
std::string numbering(const sharding::Mesh& mesh) {
    std::string letters;
    std::string sum;
    std::int64_t stride = mesh.devices();
    for (const sharding::Axis& axis : mesh.axes) {
        stride /= axis.size;
        letters += (letters.empty() ? "" : ", ") + axis.name;
        sum += (sum.empty() ? "" : " + ") + axis.name +
               (stride > 1 ? " * " + std::to_string(stride) : "");
    }
    return mesh.axes.size() > 1 ? "device (" + letters + ") = " + sum : "";
}

std::string stage_text(int stage) {
    return stage == 0   ? "data ranks keep all state"
           : stage == 1 ? "data ranks split optimizer state"
           : stage == 2 ? "data ranks split optimizer state, gradients"
                        : "data ranks split optimizer state, gradients, parameters";
}

std::string rules_text(const ExecutionPlan& plan) {
    std::string out;
    std::vector<std::string> seen; // the first rule for a name counts
    for (const sharding::Rule& rule : plan.rules) {
        if (std::find(seen.begin(), seen.end(), rule.logical) != seen.end()) {
            continue;
        }
        seen.push_back(rule.logical);
        out += (out.empty() ? "" : ", ") + rule.logical + " -> " +
               (rule.axes.empty() ? "whole" : join(rule.axes, " x "));
    }
    return out.empty() ? "none" : out;
}

void write_rest(Page& page, std::size_t all, std::size_t shown, const std::string& what) {
    if (all > shown) {
        page.line("  and " + std::to_string(all - shown) + " more " + what + ": --json");
    }
}

/// "optimizer.m/NAME" is of NAME.
std::string layer_of(const std::string& name) {
    return any_layer(name.substr(name.find('/') + 1));
}

/// The end says more than the beginning.
std::string cut_front(const std::string& text, std::size_t columns) {
    return text.size() <= columns ? text : "..." + text.substr(text.size() - columns + 3);
}

/// In single quotes, so that it can be copied into a shell.
std::string shell_quoted(const std::string& text) {
    std::string out = "'";
    for (const char c : text) {
        out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    }
    return out + "'";
}

/// "mlp.down output: mlp.down is split over its rows": without what stands before the layers'
/// numbers and the ends that all weights have, for a narrow column.
std::string cause_of(const Collective& one) {
    if (one.why.empty()) {
        return any_layer(one.cause);
    }
    std::vector<std::string> words = split(any_layer(one.what + ": " + one.why), ' ');
    for (std::string& word : words) {
        const std::size_t star = word.rfind("*.");
        word = star == std::string::npos ? word : word.substr(star + 2);
        if (word.ends_with(".weight")) {
            word.resize(word.size() - 7);
        }
    }
    return join(words, " ");
}

/// State of the same parameters stands together.
struct TensorGroup {
    std::string name, kind, spec, shape;
    std::size_t count = 0;
    std::int64_t bytes = 0, padding = 0, replicas = 1; // bytes of one device
};

std::vector<TensorGroup> tensor_groups(const ExecutionPlan& plan, sharding::SpecDialect specs) {
    std::vector<TensorGroup> out;
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known;
    for (const StateSlot& slot : plan.state_slots) {
        TensorGroup one{layer_of(slot.name), std::string(category_name(slot.category)),
                        sharding::spec_text(slot.placement, plan.mesh, specs),
                        ir::to_text(slot.type.shape)};
        const auto [found, is_new] =
            known.try_emplace({one.name, one.kind, one.spec, one.shape}, out.size());
        if (is_new) {
            out.push_back(std::move(one));
        }
        TensorGroup& group = out[found->second];
        group.count += 1;
        group.bytes += slot.type.bytes();
        group.padding += sharding::padding_bytes(slot.whole, slot.placement, plan.mesh);
        group.replicas = replicas(plan, slot.placement);
    }
    std::stable_sort(out.begin(), out.end(),
                     [](const TensorGroup& a, const TensorGroup& b) { return a.bytes > b.bytes; });
    return out;
}

/// "256: 8 data ranks x 32 samples x 1 microstep"
void write_batch(Page& page, const ExecutionPlan& plan) {
    for (const PlannedProgram* step : plan.all_stages("train_step")) {
        const auto& ports = step->arguments;
        const auto port = std::find_if(ports.begin(), ports.end(), [](const PlannedPort& one) {
            return one.name == "inputs" && one.whole.shape.rank() >= 2; // [n,B,...]
        });
        if (port == ports.end()) {
            continue;
        }
        const std::int64_t microsteps = port->whole.shape[0];
        const std::int64_t rows = port->whole.shape[1];
        const std::int64_t own = port->operand.type.shape[1];
        std::int64_t ranks = 1;
        for (const sharding::Split& split : port->placement.dims[1]) {
            ranks *= plan.mesh.size(split.axes);
        }
        page.row("batch", format_thousands(microsteps * rows),
                 std::to_string(ranks) + (ranks == 1 ? " data rank x " : " data ranks x ") +
                     (ranks * own > rows ? "up to " : "") + std::to_string(own) +
                     (own == 1 ? " sample x " : " samples x ") + std::to_string(microsteps) +
                     (microsteps == 1 ? " microstep" : " microsteps"));
        return;
    }
}

struct ExchangeGroup {
    Collective first;
    std::string cause;
    double count = 0, predicted_ms = 0;
    std::int64_t sent_bytes = 0;
};

std::vector<ExchangeGroup> exchange_groups(const std::vector<Collective>& all) {
    std::vector<ExchangeGroup> out;
    std::map<std::tuple<std::string, std::string, std::string>, std::size_t> known;
    for (const Collective& one : all) {
        const std::string cause = cause_of(one);
        const auto [found, is_new] =
            known.try_emplace({one.kind, join(one.axes, ","), cause}, out.size());
        if (is_new) {
            out.push_back({one, cause});
        }
        ExchangeGroup& group = out[found->second];
        group.count += one.count;
        group.predicted_ms += one.predicted_ms;
        group.sent_bytes += one.sent_bytes;
    }
    std::stable_sort(out.begin(), out.end(), [](const ExchangeGroup& a, const ExchangeGroup& b) {
        return std::pair(a.predicted_ms, a.sent_bytes) > std::pair(b.predicted_ms, b.sent_bytes);
    });
    return out;
}

struct FindingGroup {
    sharding::Finding sum;
    std::size_t count = 0;
};

std::vector<FindingGroup> finding_groups(const ExecutionPlan& plan) {
    std::vector<FindingGroup> out;
    std::map<std::tuple<std::string, int, int, std::int64_t>, std::size_t> known;
    for (const sharding::Finding& one : plan.findings) {
        const std::string name = layer_of(one.array);
        const auto [found, is_new] =
            known.try_emplace({name, static_cast<int>(one.kind), one.dim, one.devices}, out.size());
        if (is_new) {
            out.push_back({one});
            out.back().sum.array = name;
            out.back().sum.bytes = 0;
        }
        out[found->second].count += 1;
        out[found->second].sum.bytes += one.bytes;
    }
    std::stable_sort(out.begin(), out.end(), [](const FindingGroup& a, const FindingGroup& b) {
        return a.sum.bytes > b.sum.bytes;
    });
    return out;
}

} // namespace

std::int64_t replicas(const ExecutionPlan& plan, const sharding::Sharding& placement) {
    std::int64_t parts = 1;
    for (const sharding::DimSharding& dim : placement.dims) {
        for (const sharding::Split& split : dim) {
            parts *= plan.mesh.size(split.axes);
        }
    }
    const auto stages = static_cast<std::int64_t>(plan.stages.size());
    return plan.mesh.devices() / stages / parts;
}

void write_mesh(Page& page, const ExecutionPlan& plan) {
    if (plan.mesh.single()) {
        return;
    }
    page.heading("Mesh", plan.mesh.to_text());
    const std::string kind =
        plan.device == "cpu" ? "simulated on this machine" : "of " + plan.device_title;
    page.row("devices", format_thousands(plan.mesh.devices()), kind);
    if (const std::string text = numbering(plan.mesh); !text.empty()) {
        page.row("order", "", text);
    }
    page.row("strategy", "", plan.strategy);
    page.row("zero_stage", std::to_string(plan.zero_stage), stage_text(plan.zero_stage));
    write_batch(page, plan);
    page.sentence("rules  " + rules_text(plan), 2, 4);
}

void write_tensors(Page& page, const ExecutionPlan& plan) {
    if (plan.mesh.single()) {
        return;
    }
    const auto groups = tensor_groups(plan, page.specs());
    const std::size_t shown = std::min(kMostTensors, groups.size());
    page.heading("Tensors", std::string(page.specs() == sharding::SpecDialect::jax
                                            ? "spec"
                                            : "placement on each axis of the mesh") +
                                ", part on each device, bytes, replicas; layers together");
    std::size_t spec = 4;
    std::size_t shape = 4;
    for (std::size_t i = 0; i < shown; ++i) {
        spec = std::max(spec, groups[i].spec.size());
        shape = std::max(shape, groups[i].shape.size());
    }
    constexpr std::size_t kKind = 10;
    const std::size_t taken = 4 + kKind + 2 + spec + 2 + shape + kBytesColumns + 6;
    const std::size_t room =
        std::max<std::size_t>(28, page.columns() > taken ? page.columns() - taken : 0);
    for (std::size_t i = 0; i < shown; ++i) {
        const TensorGroup& group = groups[i];
        const std::string count = times(group.count);
        page.line("  " + left(cut_front(group.name, room - count.size()) + count, room) + "  " +
                  left(group.kind, kKind) + "  " + left(group.spec, spec) + "  " +
                  left(group.shape, shape) + right(format_bytes(group.bytes), kBytesColumns) +
                  right("x" + std::to_string(group.replicas), 6) +
                  (group.padding > 0 ? "  padding " + format_bytes(group.padding) : ""));
    }
    write_rest(page, groups.size(), shown, "groups");
}

void write_exchanges(Page& page, const ExecutionPlan& plan) {
    const auto programs = plan.all_stages("train_step");
    if (programs.empty() || plan.mesh.single()) {
        return;
    }
    std::vector<Collective> all;
    std::int64_t most = 0; // that a device sends
    for (const PlannedProgram* program : programs) {
        std::int64_t sent = 0;
        for (const Collective& one : collectives(*program)) {
            sent += one.sent_bytes;
            all.push_back(one);
        }
        most = std::max(most, sent);
    }
    const auto groups = exchange_groups(all);
    page.heading("Exchanges", std::to_string(all.size()) + " of a step; " +
                                  (plan.pipeline ? "a device sends up to " : "each device sends ") +
                                  format_bytes(most));
    if (groups.empty()) {
        return;
    }
    std::size_t name = 0;
    const auto name_of = [](const ExchangeGroup& group) {
        return group.first.kind + " over " + join(group.first.axes, ", ");
    };
    const std::size_t shown = std::min(kMostExchanges, groups.size());
    for (std::size_t i = 0; i < shown; ++i) {
        name = std::max(name, name_of(groups[i]).size());
    }
    const std::size_t taken = 2 + 5 + 2 + name + 8 + 2 * kBytesColumns + 2;
    const std::size_t room =
        std::max<std::size_t>(36, page.columns() > taken ? page.columns() - taken : 0);
    page.line("  " + right("first", 5) + "  " + left("", name) + right("times", 8) +
              right("sent", kBytesColumns) + right("predicted", kBytesColumns) + "  cause");
    for (std::size_t i = 0; i < shown; ++i) {
        const ExchangeGroup& group = groups[i];
        page.line(
            "  " + right(std::to_string(group.first.number), 5) + "  " +
            left(name_of(group), name) + right(fixed(group.count, 0) + " x", 8) +
            right(format_bytes(group.sent_bytes), kBytesColumns) +
            right(group.predicted_ms > 0 ? milliseconds(group.predicted_ms) : "-", kBytesColumns) +
            "  " + cut(group.cause, room));
    }
    write_rest(page, groups.size(), shown, "groups");
}

void write_fixes(Page& page, const sharding::Finding& finding) {
    for (const sharding::FindingFix& fix : finding.fixes) {
        std::string settings;
        for (const std::string& assignment : fix.overrides) {
            settings += " --set " + shell_quoted(assignment);
        }
        page.line("    fix: " + fix.change + ":" + settings);
    }
}

void write_findings(Page& page, const ExecutionPlan& plan) {
    const auto groups = finding_groups(plan);
    if (groups.empty()) {
        return;
    }
    page.heading("Whole or padded", "what does not divide over the mesh");
    const std::size_t shown = std::min(kMostFindings, groups.size());
    for (std::size_t i = 0; i < shown; ++i) {
        page.sentence(groups[i].sum.array +
                          (groups[i].count > 1 ? " (" + std::to_string(groups[i].count) +
                                                     " arrays, with its state) "
                                               : " ") +
                          sharding::message_of(groups[i].sum),
                      2, 4);
        write_fixes(page, groups[i].sum);
    }
    write_rest(page, groups.size(), shown, "groups");
}

void write_batch_advice(Page& page, const ExecutionPlan& plan) {
    for (const std::string& line : batch_advice_lines(plan)) {
        page.sentence(line, 2, 4);
    }
}

} // namespace weft::plan
