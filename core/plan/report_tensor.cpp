// SPDX-License-Identifier: Apache-2.0
// Which device of the mesh holds which ranges of one state slot.
#include "core/base/text.h"
#include "core/ir/text.h"
#include "core/plan/sections.h"

#include <algorithm>
#include <map>

namespace weft::plan {
namespace {

using Json = nlohmann::ordered_json;

/// Ranges of every dimension that devices hold alike.
struct Holding {
    std::vector<std::vector<sharding::Range>> dims;
    std::vector<std::int64_t> devices;
};

std::vector<Holding> holdings(const ExecutionPlan& plan, const StateSlot& slot) {
    std::vector<Holding> out;
    std::map<std::string, std::size_t> known;
    for (const std::int64_t device : slot.placement.holders(plan.mesh)) {
        Holding one;
        std::string key;
        for (int dim = 0; dim < slot.whole.shape.rank(); ++dim) {
            one.dims.push_back(sharding::ranges(slot.placement.dims[static_cast<std::size_t>(dim)],
                                                slot.whole.shape[dim], plan.mesh, device));
            for (const sharding::Range& range : one.dims.back()) {
                key += std::to_string(range.first) + "+" + std::to_string(range.count) + " ";
            }
            key += ";";
        }
        const auto [found, is_new] = known.try_emplace(key, out.size());
        if (is_new) {
            out.push_back(std::move(one));
        }
        out[found->second].devices.push_back(device);
    }
    return out;
}

/// "0:32, 64:96", or ":" for the whole dimension.
std::string range_text(const std::vector<sharding::Range>& ranges, std::int64_t extent) {
    if (ranges.empty()) {
        return "nothing";
    }
    std::string out;
    for (const sharding::Range& range : ranges) {
        const bool whole = range.first == 0 && range.count == extent;
        out +=
            (out.empty() ? "" : " and ") +
            (whole ? ":"
                   : std::to_string(range.first) + ":" + std::to_string(range.first + range.count));
    }
    return out;
}

std::string ranges_text(const Holding& holding, const ir::Shape& shape) {
    std::string out;
    for (int dim = 0; dim < shape.rank(); ++dim) {
        out += (dim == 0 ? "" : ", ") +
               range_text(holding.dims[static_cast<std::size_t>(dim)], shape[dim]);
    }
    return "[" + out + "]";
}

/// "devices 0-3, 8" of ascending numbers.
std::string devices_text(const std::vector<std::int64_t>& devices) {
    std::string out;
    for (std::size_t i = 0; i < devices.size();) {
        std::size_t last = i;
        while (last + 1 < devices.size() && devices[last + 1] == devices[last] + 1) {
            ++last;
        }
        out += (out.empty() ? "" : ", ") + std::to_string(devices[i]) +
               (last > i ? "-" + std::to_string(devices[last]) : "");
        i = last + 1;
    }
    return (devices.size() == 1 ? "device " : "devices ") + out;
}

Json shape_json(const ir::Shape& shape) {
    return std::vector<std::int64_t>(shape.begin(), shape.end());
}

} // namespace

std::string tensor_text(const ExecutionPlan& plan, const StateSlot& slot, const PageStyle& style) {
    Page page(style);
    page.line(page.painted(slot.name, "1") + "  " + ir::to_text(slot.whole) + ", " +
              ir::to_text(sharding::to_spec(slot.placement, plan.mesh)) + " on " +
              plan.mesh.to_text());
    page.row("kind", "", std::string(category_name(slot.category)));
    page.row("whole", format_bytes(slot.whole.bytes()), ir::to_text(slot.whole.shape));
    page.row("on each device", format_bytes(slot.type.bytes()), ir::to_text(slot.type.shape));
    if (plan.pipeline) {
        page.row("stage", std::to_string(slot.stage),
                 plan.stages[static_cast<std::size_t>(slot.stage)].layers);
    }
    page.row("replicas", std::to_string(replicas(plan, slot)));
    page.row("padding",
             format_bytes(sharding::padding_bytes(slot.whole, slot.placement, plan.mesh)),
             "on all devices together");
    page.heading("Held by");
    const auto all = holdings(plan, slot);
    std::size_t widest = 0;
    for (const Holding& holding : all) {
        widest = std::max(widest, devices_text(holding.devices).size());
    }
    for (const Holding& holding : all) {
        page.line("  " + left(devices_text(holding.devices) + ":", widest + 1) + " " +
                  ranges_text(holding, slot.whole.shape));
    }
    for (const sharding::Finding& finding : plan.findings) {
        if (finding.array == slot.name) {
            page.sentence(sharding::message_of(finding), 2, 4);
        }
    }
    return page.text();
}

nlohmann::ordered_json tensor_row_json(const ExecutionPlan& plan, const StateSlot& slot) {
    Json out{{"name", slot.name},
             {"kind", category_name(slot.category)},
             {"global_shape", shape_json(slot.whole.shape)},
             {"local_shape", shape_json(slot.type.shape)},
             {"spec", ir::to_text(sharding::to_spec(slot.placement, plan.mesh))},
             {"replicas", replicas(plan, slot)},
             {"padding_bytes", sharding::padding_bytes(slot.whole, slot.placement, plan.mesh)},
             {"local_bytes", slot.type.bytes()}};
    if (plan.pipeline) {
        out["stage"] = slot.stage;
    }
    return out;
}

nlohmann::ordered_json tensor_json(const ExecutionPlan& plan, const StateSlot& slot) {
    Json held = Json::array();
    for (const Holding& holding : holdings(plan, slot)) {
        Json dims = Json::array();
        for (const auto& ranges : holding.dims) {
            Json list = Json::array();
            for (const sharding::Range& range : ranges) {
                list.push_back({range.first, range.first + range.count});
            }
            dims.push_back(std::move(list));
        }
        held.push_back({{"devices", holding.devices},
                        {"ranges", std::move(dims)},
                        {"text", ranges_text(holding, slot.whole.shape)}});
    }
    Json out = tensor_row_json(plan, slot);
    out["held"] = std::move(held);
    return out;
}

} // namespace weft::plan
