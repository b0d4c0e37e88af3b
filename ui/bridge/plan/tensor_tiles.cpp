// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/tensor_tiles.h"

#include "core/ir/text.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>
#include <map>

namespace weft::ui {
namespace {

using sharding::SpecDialect;
using widgets::TileArray;
using widgets::TileSpan;

/// The spans of one dimension, and which of them each device holds.
struct DimTiles {
    std::vector<TileSpan> spans;
    std::vector<std::vector<int>> held; // index: of the device among the holders
};

/// What a device holds of a dimension. Padding stands behind the range that it fills up; a device
/// with padding alone has one span of it at the end.
std::vector<TileSpan> spansOf(const sharding::DimSharding& dim, std::int64_t extent,
                              const sharding::Mesh& mesh, std::int64_t device) {
    const std::vector<sharding::Range> ranges = sharding::ranges(dim, extent, mesh, device);
    const std::int64_t local = sharding::local_extent(dim, extent, mesh);
    std::vector<TileSpan> out;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        const std::int64_t next = i + 1 < ranges.size() ? ranges[i + 1].local : local;
        out.push_back({ranges[i].first, ranges[i].count, next - ranges[i].local - ranges[i].count});
    }
    if (out.empty()) {
        out.push_back({extent, 0, local});
    }
    return out;
}

DimTiles dimTiles(const sharding::DimSharding& dim, std::int64_t extent, const sharding::Mesh& mesh,
                  const std::vector<std::int64_t>& holders) {
    std::vector<int> axes;
    for (const sharding::Split& split : dim) {
        axes.insert(axes.end(), split.axes.begin(), split.axes.end());
    }
    // Spans without a real element all begin at the end: their place on the mesh tells them apart.
    using Key = std::pair<std::int64_t, std::int64_t>;
    std::map<Key, int> numbers;
    std::vector<std::vector<Key>> keys;
    std::map<Key, TileSpan> known;
    for (const std::int64_t device : holders) {
        std::vector<Key>& own = keys.emplace_back();
        for (const TileSpan& span : spansOf(dim, extent, mesh, device)) {
            own.emplace_back(span.first, span.count > 0 ? -1 : mesh.index(device, axes));
            known.emplace(own.back(), span);
        }
    }
    DimTiles out;
    for (const auto& [key, span] : known) {
        numbers[key] = static_cast<int>(out.spans.size());
        out.spans.push_back(span);
    }
    for (const std::vector<Key>& own : keys) {
        std::vector<int>& held = out.held.emplace_back();
        std::transform(own.begin(), own.end(), std::back_inserter(held),
                       [&](const Key& key) { return numbers[key]; });
    }
    return out;
}

/// Adds a device to every tile in the product of its spans.
void addHolder(TileArray& tiles, const std::vector<DimTiles>& dims, std::size_t holder, int device,
               std::size_t dim, std::vector<int>& spans) {
    if (dim == dims.size()) {
        tiles.holders[static_cast<std::size_t>(tiles.tileAt(spans))].push_back(device);
        return;
    }
    for (const int span : dims[dim].held[holder]) {
        spans[dim] = span;
        addHolder(tiles, dims, holder, device, dim + 1, spans);
    }
}

bool isOfOptimizer(const plan::StateSlot& slot, const std::string& owner) {
    return slot.category == plan::Category::optimizer && slot.name.size() > owner.size() + 1 &&
           slot.name.ends_with("/" + owner);
}

/// "m" of "optimizer.m/blocks.0.norm.bias"
QString stateName(const plan::StateSlot& slot) {
    const QString name = toQString(slot.name);
    return name.left(name.indexOf('/')).section('.', -1);
}

QStringList axisNames(const sharding::Mesh& mesh, const sharding::AxisList& axes) {
    QStringList out;
    for (const int axis : axes) {
        out.append(toQString(mesh.axes[static_cast<std::size_t>(axis)].name));
    }
    return out;
}

TensorSheet sheetOf(const plan::ExecutionPlan& plan, const plan::Tensor& tensor,
                    SpecDialect dialect) {
    const sharding::Mesh& mesh = plan.mesh;
    TensorSheet sheet;
    sheet.name = toQString(tensor.name);
    sheet.tiles = tensorTiles(plan, tensor);
    sheet.type = toQString(ir::dtype_name(tensor.whole.dtype));
    sheet.spec = specText(plan, tensor, dialect);
    sheet.spec_remark = specRemark(plan, tensor, dialect);
    sheet.local.assign(tensor.type.shape.begin(), tensor.type.shape.end());
    sheet.local_bytes = tensor.type.bytes();
    sheet.padding_bytes = sharding::padding_bytes(tensor.whole, tensor.placement, mesh);
    sheet.copies = tensorCopies(plan, tensor);
    sheet.stage = plan.pipeline ? tensor.stage : -1;
    for (const sharding::DimSharding& dim : tensor.placement.dims) {
        QStringList& names = sheet.axes.emplace_back();
        for (const sharding::Split& split : dim) {
            names.append(axisNames(mesh, split.axes));
        }
    }
    const std::vector<int>& sums = tensor.placement.partial;
    sheet.sum_axes = axisNames(mesh, sums);
    for (const int axis : sums) {
        sheet.copies /= static_cast<int>(mesh.size(axis));
    }
    for (int axis = 0; axis < static_cast<int>(mesh.axes.size()); ++axis) {
        const bool pinned = tensor.placement.pin && tensor.placement.pin->axis == axis;
        const bool summed = std::find(sums.begin(), sums.end(), axis) != sums.end();
        if (mesh.size(axis) > 1 && !pinned && !summed && !tensor.placement.uses(axis)) {
            sheet.copy_axes.append(axisNames(mesh, {axis}));
        }
    }
    return sheet;
}

std::optional<TensorSheet> activationSheet(const plan::ExecutionPlan& plan,
                                           const std::string& parameter, SpecDialect dialect) {
    const auto& all = plan.activations;
    const auto found = std::find_if(all.begin(), all.end(), [&](const plan::Activation& one) {
        return std::find(one.parameters.begin(), one.parameters.end(), parameter) !=
               one.parameters.end();
    });
    if (found == all.end()) {
        return {};
    }
    TensorSheet sheet = sheetOf(plan, *found, dialect);
    if (found->for_backward) {
        sheet.type += " · " + QCoreApplication::translate("TensorTiles", "kept for backward");
    }
    return sheet;
}

} // namespace

TileArray tensorTiles(const sharding::Mesh& mesh, const ir::Shape& whole,
                      const sharding::Sharding& placement) {
    TileArray out;
    out.shape.assign(whole.begin(), whole.end());
    for (const sharding::Axis& axis : mesh.axes) {
        out.mesh.push_back(static_cast<int>(axis.size));
    }
    const std::vector<std::int64_t> holders = placement.holders(mesh);
    std::vector<DimTiles> dims;
    std::size_t tiles = 1;
    for (int dim = 0; dim < whole.rank(); ++dim) {
        dims.push_back(
            dimTiles(placement.dims[static_cast<std::size_t>(dim)], whole[dim], mesh, holders));
        out.dims.push_back(dims.back().spans);
        tiles *= dims.back().spans.size();
    }
    out.holders.resize(tiles);
    std::vector<int> spans(out.shape.size());
    for (std::size_t i = 0; i < holders.size(); ++i) {
        addHolder(out, dims, i, static_cast<int>(holders[i]), 0, spans);
    }
    return out;
}

TileArray tensorTiles(const plan::ExecutionPlan& plan, const plan::Tensor& tensor) {
    return tensorTiles(plan.mesh, tensor.whole.shape, tensor.placement);
}

QString tilesText(const TileArray& tiles) {
    QStringList texts;
    std::vector<std::vector<int>> devices;
    for (int device = 0; device < tiles.deviceCount(); ++device) {
        std::vector<std::vector<bool>> held;
        for (int dim = 0; dim < tiles.rank(); ++dim) {
            held.emplace_back(static_cast<std::size_t>(tiles.spanCount(dim)));
        }
        bool any = false;
        for (int tile = 0; tile < tiles.tileCount(); ++tile) {
            if (tiles.holds(tile, device)) {
                any = true;
                const std::vector<int> spans = tiles.spansOf(tile);
                for (std::size_t dim = 0; dim < held.size(); ++dim) {
                    held[dim][static_cast<std::size_t>(spans[dim])] = true;
                }
            }
        }
        if (!any) {
            continue;
        }
        QStringList dims;
        for (int dim = 0; dim < tiles.rank(); ++dim) {
            QStringList slices;
            for (int span = 0; span < tiles.spanCount(dim); ++span) {
                if (held[static_cast<std::size_t>(dim)][static_cast<std::size_t>(span)] &&
                    tiles.span(dim, span).count > 0) {
                    slices.append(widgets::sliceText(tiles.span(dim, span),
                                                     tiles.shape[static_cast<std::size_t>(dim)]));
                }
            }
            dims.append(slices.isEmpty() ? "nothing" : slices.join(" and "));
        }
        const QString text = "[" + dims.join(", ") + "]";
        const auto at =
            static_cast<std::size_t>(texts.indexOf(text) < 0 ? texts.size() : texts.indexOf(text));
        if (at == devices.size()) {
            texts.append(text);
            devices.emplace_back();
        }
        devices[at].push_back(device);
    }
    QString out;
    for (std::size_t i = 0; i < devices.size(); ++i) {
        out += widgets::deviceListText(devices[i]) + ": " + texts[static_cast<int>(i)] + "\n";
    }
    return out;
}

std::optional<TensorSheet> tensorSheet(const plan::ExecutionPlan& plan, const plan::Tensor& tensor,
                                       TensorSide side, SpecDialect dialect) {
    if (side == TensorSide::Parameter) {
        return sheetOf(plan, tensor, dialect);
    }
    const plan::StateSlot* found = plan.find_slot(tensor.name);
    if (found == nullptr || found->category != plan::Category::parameters) {
        return {};
    }
    const plan::StateSlot& slot = *found;
    if (side == TensorSide::Activation) {
        return activationSheet(plan, slot.name, dialect);
    }
    if (!slot.trainable) {
        return {};
    }
    std::vector<const plan::StateSlot*> states;
    for (const plan::StateSlot& other : plan.state_slots) {
        if (isOfOptimizer(other, slot.name) && other.whole.shape == slot.whole.shape) {
            states.push_back(&other);
        }
    }
    if (side == TensorSide::Gradient) {
        if (plan.zero_stage < 2 || (plan.zero_stage == 3 && states.empty())) {
            return sheetOf(plan, slot, dialect);
        }
        if (states.empty()) {
            return {}; // split, but nothing in the plan says how
        }
        plan::StateSlot gradient = slot;
        gradient.placement = states.front()->placement;
        gradient.type.shape = states.front()->type.shape;
        return sheetOf(plan, gradient, dialect);
    }
    if (states.empty()) {
        return {};
    }
    TensorSheet sheet = sheetOf(plan, *states.front(), dialect);
    QStringList names;
    for (const plan::StateSlot* state : states) {
        names.append(stateName(*state));
        sheet.local_bytes += state == states.front() ? 0 : state->type.bytes();
        sheet.padding_bytes +=
            state == states.front()
                ? 0
                : sharding::padding_bytes(state->whole, state->placement, plan.mesh);
    }
    sheet.type = names.join(", ") + " · " + sheet.type;
    return sheet;
}

int tensorCopies(const plan::ExecutionPlan& plan, const plan::Tensor& tensor) {
    std::int64_t copies = plan.mesh.devices();
    for (int axis = 0; axis < static_cast<int>(plan.mesh.axes.size()); ++axis) {
        const bool pinned = tensor.placement.pin && tensor.placement.pin->axis == axis;
        copies /= pinned || tensor.placement.uses(axis) ? plan.mesh.size(axis) : 1;
    }
    return static_cast<int>(copies);
}

QString specText(const plan::ExecutionPlan& plan, const plan::Tensor& tensor, SpecDialect dialect) {
    return toQString(sharding::spec_text(tensor.placement, plan.mesh, dialect));
}

QString specRemark(const plan::ExecutionPlan& plan, const plan::Tensor& tensor,
                   SpecDialect dialect) {
    if (dialect == SpecDialect::jax || plan.mesh.single()) {
        return {};
    }
    const auto& pin = tensor.placement.pin;
    const QString axes = toQString(
        sharding::placement_axes(plan.mesh, pin ? std::optional(pin->axis) : std::nullopt));
    QStringList lines{
        QCoreApplication::translate("TensorTiles", "placements on the mesh axes %1").arg(axes)};
    for (const std::string& gap :
         sharding::dtensor_gaps(tensor.placement, tensor.whole.shape, plan.mesh)) {
        lines.append(toQString(gap));
    }
    return lines.join('\n');
}

QString shapeText(const ir::Shape& shape) {
    QStringList extents;
    for (const std::int64_t extent : shape) {
        extents.append(QString::number(extent));
    }
    return extents.isEmpty() ? QStringLiteral("1") : extents.join(QStringLiteral("×"));
}

QString shortMemory(qint64 bytes) {
    constexpr const char* kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double value = static_cast<double>(bytes);
    int unit = 0;
    for (; value >= 1024.0 && unit < 4; ++unit) {
        value /= 1024.0;
    }
    const int decimals = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
    return QStringLiteral("%1 %2").arg(value, 0, 'f', decimals).arg(QLatin1String(kUnits[unit]));
}

} // namespace weft::ui
