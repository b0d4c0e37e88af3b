// SPDX-License-Identifier: Apache-2.0
// Which device of the mesh holds which ranges of one state tensor.
#include "core/base/text.h"
#include "core/ir/text.h"
#include "core/plan/sections.h"

#include <algorithm>
#include <map>

namespace weft::plan {
namespace {

using config::Json;

/// Ranges of every dimension that devices hold alike.
struct Holding {
    std::vector<std::vector<sharding::Range>> dims;
    std::vector<std::int64_t> devices;
};

std::vector<Holding> holdings(const ExecutionPlan& plan, const Tensor& tensor) {
    std::vector<Holding> out;
    std::map<std::string, std::size_t> known;
    for (const std::int64_t device : tensor.placement.holders(plan.mesh)) {
        Holding one;
        std::string key;
        for (int dim = 0; dim < tensor.whole.shape.rank(); ++dim) {
            one.dims.push_back(sharding::ranges(tensor.placement.dims[static_cast<std::size_t>(dim)],
                                                tensor.whole.shape[dim], plan.mesh, device));
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

std::string partial_text(const ExecutionPlan& plan, const Tensor& tensor) {
    std::vector<std::string> axes;
    for (const int axis : tensor.placement.partial) {
        axes.push_back(plan.mesh.axes[static_cast<std::size_t>(axis)].name);
    }
    return join(axes, ", ");
}

Json shape_json(const ir::Shape& shape) {
    return std::vector<std::int64_t>(shape.begin(), shape.end());
}

} // namespace

Tensor::Tensor(const StateSlot& slot)
    : name(slot.name), kind(category_name(slot.category)), type(slot.type), whole(slot.whole),
      placement(slot.placement), stage(slot.stage) {}

Tensor::Tensor(const Activation& activation)
    : name(activation.name), kind("activation"), type(activation.type), whole(activation.whole),
      placement(activation.placement), stage(activation.stage) {}

Tensor::Tensor(const PlannedPort& port, int of_stage)
    : name(port.name), kind(category_name(Category::batch)), type(port.operand.type),
      whole(port.whole), placement(port.placement), stage(of_stage) {}

std::vector<Tensor> batch_tensors(const ExecutionPlan& plan) {
    std::vector<Tensor> out;
    for (const PlannedProgram* step : plan.all_stages("train_step")) {
        for (const PlannedPort& port : step->arguments) {
            const bool known = std::any_of(out.begin(), out.end(), [&](const Tensor& tensor) {
                return tensor.name == port.name;
            });
            if (port.role == ir::Role::batch && !known) {
                out.emplace_back(port, step->stage);
            }
        }
    }
    return out;
}

std::optional<Tensor> find_tensor(const ExecutionPlan& plan, std::string_view name) {
    if (const StateSlot* slot = plan.find_slot(name)) {
        return Tensor(*slot);
    }
    for (const Activation& activation : plan.activations) {
        if (activation.name == name) {
            return Tensor(activation);
        }
    }
    for (Tensor& tensor : batch_tensors(plan)) {
        if (tensor.name == name) {
            return std::move(tensor);
        }
    }
    return std::nullopt;
}

std::string tensor_text(const ExecutionPlan& plan, const Tensor& tensor, const PageStyle& style) {
    Page page(style);
    page.line(page.painted(tensor.name, "1") + "  " + ir::to_text(tensor.whole) + ", " +
              sharding::spec_text(tensor.placement, plan.mesh, style.specs) + " on " +
              plan.mesh.to_text());
    page.row("kind", "", tensor.kind);
    page.row("whole", format_bytes(tensor.whole.bytes()), ir::to_text(tensor.whole.shape));
    page.row("on each device", format_bytes(tensor.type.bytes()), ir::to_text(tensor.type.shape));
    if (plan.pipeline) {
        page.row("stage", std::to_string(tensor.stage),
                 plan.stages[static_cast<std::size_t>(tensor.stage)].layers);
    }
    page.row("replicas", std::to_string(replicas(plan, tensor.placement)));
    page.row("padding",
             format_bytes(sharding::padding_bytes(tensor.whole, tensor.placement, plan.mesh)),
             "on all devices together");
    if (!tensor.placement.partial.empty()) {
        page.row("partial sums", "", "over " + partial_text(plan, tensor) + ": not added up yet");
    }
    if (style.specs == sharding::SpecDialect::dtensor) {
        for (const std::string& gap :
             sharding::dtensor_gaps(tensor.placement, tensor.whole.shape, plan.mesh)) {
            page.sentence("what DTensor cannot say: " + gap, 2, 4);
        }
    }
    page.heading("Held by");
    const auto all = holdings(plan, tensor);
    std::size_t widest = 0;
    for (const Holding& holding : all) {
        widest = std::max(widest, devices_text(holding.devices).size());
    }
    for (const Holding& holding : all) {
        page.line("  " + left(devices_text(holding.devices) + ":", widest + 1) + " " +
                  ranges_text(holding, tensor.whole.shape));
    }
    for (const sharding::Finding& finding : plan.findings) {
        if (finding.array == tensor.name) {
            page.sentence(sharding::message_of(finding), 2, 4);
            write_fixes(page, finding);
        }
    }
    return page.text();
}

Json tensor_row_json(const ExecutionPlan& plan, const Tensor& tensor) {
    Json out{{"name", tensor.name},
             {"kind", tensor.kind},
             {"global_shape", shape_json(tensor.whole.shape)},
             {"local_shape", shape_json(tensor.type.shape)},
             {"spec", ir::to_text(sharding::to_spec(tensor.placement, plan.mesh))},
             {"replicas", replicas(plan, tensor.placement)},
             {"padding_bytes", sharding::padding_bytes(tensor.whole, tensor.placement, plan.mesh)},
             {"local_bytes", tensor.type.bytes()}};
    if (plan.pipeline) {
        out["stage"] = tensor.stage;
    }
    return out;
}

Json tensor_json(const ExecutionPlan& plan, const Tensor& tensor) {
    Json held = Json::array();
    for (const Holding& holding : holdings(plan, tensor)) {
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
                        {"text", ranges_text(holding, tensor.whole.shape)}});
    }
    Json out = tensor_row_json(plan, tensor);
    out["held"] = std::move(held);
    return out;
}

} // namespace weft::plan
