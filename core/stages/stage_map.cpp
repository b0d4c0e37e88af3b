// SPDX-License-Identifier: Apache-2.0
#include "core/stages/stage_map.h"

#include "core/base/check.h"
#include "core/ops/op_def.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace weft::stages {
namespace {

bool is_number(std::string_view text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

class Collector {
public:
    explicit Collector(const ir::Program& program) {
        for (const ir::Port& port : program.arguments) {
            if (port.role == ir::Role::state) {
                slots_[port.value] = port.name;
            }
        }
    }

    void visit(const ir::Program& program, const ir::Block& block) {
        for (const ir::Op& op : block.ops) {
            if (op.phase != ir::Phase::forward) {
                continue;
            }
            if (!op.path.empty()) {
                add(layer_of_path(op.path), ops::cost_of({program, op}).flops);
            }
            // A parameter whose name is on no path goes where it is read.
            for (const ir::ValueId id : op.inputs) {
                if (const auto slot = slots_.find(id); slot != slots_.end()) {
                    add(layer_of_path(slot->second), 0);
                }
            }
        }
    }

    LayerList take() {
        // What came before the first layer waits for it.
        if (!out_.layers.empty()) {
            out_.layers.front().flops += before_;
        }
        return std::move(out_);
    }

private:
    void add(std::string_view path, double flops) {
        auto found = index_.find(path);
        if (found == index_.end()) {
            const bool numbered = path.find('.') != std::string_view::npos;
            const int last = static_cast<int>(out_.layers.size()) - 1;
            found = index_.emplace(path, numbered ? last + 1 : std::max(last, 0)).first;
            if (numbered) {
                out_.layers.push_back({std::string(path), 0});
            } else {
                out_.with.emplace(path, std::max(last, 0));
            }
        }
        if (out_.layers.empty()) {
            before_ += flops;
        } else {
            out_.layers[static_cast<std::size_t>(found->second)].flops += flops;
        }
    }

    LayerList out_;
    std::map<ir::ValueId, std::string> slots_;
    std::map<std::string, int, std::less<>> index_;
    double before_ = 0;
};

} // namespace

std::string_view layer_of_path(std::string_view path) {
    std::size_t end = path.find('.');
    if (end == std::string_view::npos) {
        return path;
    }
    const std::size_t first = end;
    // As far as numbers follow each other.
    while (end < path.size()) {
        const std::size_t next = std::min(path.find('.', end + 1), path.size());
        if (!is_number(path.substr(end + 1, next - end - 1))) {
            break;
        }
        end = next;
    }
    return path.substr(0, end == first ? first : end);
}

LayerList list_layers(const ir::Program& program) {
    const auto& ops = program.body.ops;
    const auto loop =
        std::find_if(ops.begin(), ops.end(), [](const ir::Op& op) { return op.is_loop(); });
    Collector collector(program);
    // Sums that start before the loop are in no order.
    collector.visit(program, loop == ops.end() ? program.body : loop->body.front());
    return collector.take();
}

std::vector<int> balance(const std::vector<Layer>& layers, int parts) {
    const std::size_t count = layers.size();
    const auto wanted = static_cast<std::size_t>(parts);
    WEFT_CHECK(parts >= 1 && count >= wanted, "every part has a layer");
    std::vector<double> sums(count + 1, 0);
    for (std::size_t i = 0; i < count; ++i) {
        sums[i + 1] = sums[i] + layers[i].flops;
    }
    // best[p][n]: cost of the dearest of p parts that hold the first n layers; cut[p][n]: where the
    // last of them begins.
    constexpr double kNever = std::numeric_limits<double>::infinity();
    std::vector<std::vector<double>> best(wanted + 1, std::vector<double>(count + 1, kNever));
    std::vector<std::vector<std::size_t>> cut(wanted + 1, std::vector<std::size_t>(count + 1, 0));
    best[0][0] = 0;
    for (std::size_t p = 1; p <= wanted; ++p) {
        for (std::size_t n = p; n <= count; ++n) {
            for (std::size_t from = n; from-- > p - 1;) {
                const double dearest = std::max(best[p - 1][from], sums[n] - sums[from]);
                if (dearest < best[p][n]) {
                    best[p][n] = dearest;
                    cut[p][n] = from;
                }
            }
        }
    }
    std::vector<int> out(wanted);
    std::size_t end = count;
    for (std::size_t p = wanted; p > 0; --p) {
        out[p - 1] = static_cast<int>(end - cut[p][end]);
        end = cut[p][end];
    }
    return out;
}

StageMap::StageMap(const LayerList& list, const std::vector<int>& counts) {
    WEFT_CHECK(std::accumulate(counts.begin(), counts.end(), 0) ==
                   static_cast<int>(list.layers.size()),
               "the parts hold every layer once");
    std::vector<int> part_of_layer;
    for (std::size_t part = 0; part < counts.size(); ++part) {
        const std::size_t first = part_of_layer.size();
        part_of_layer.insert(part_of_layer.end(), static_cast<std::size_t>(counts[part]),
                             static_cast<int>(part));
        const std::string& from = list.layers[first].path;
        const std::string& to = list.layers[part_of_layer.size() - 1].path;
        ranges_.push_back(from == to ? from : from + " to " + to);
    }
    for (std::size_t i = 0; i < part_of_layer.size(); ++i) {
        parts_[list.layers[i].path] = part_of_layer[i];
    }
    for (const auto& [path, layer] : list.with) {
        parts_[path] = part_of_layer[static_cast<std::size_t>(layer)];
    }
}

int StageMap::part_of(std::string_view path) const {
    const std::size_t slash = path.rfind('/');
    if (slash != std::string_view::npos) {
        path = path.substr(slash + 1);
    }
    const auto found = parts_.find(layer_of_path(path));
    return found == parts_.end() ? -1 : found->second;
}

} // namespace weft::stages
