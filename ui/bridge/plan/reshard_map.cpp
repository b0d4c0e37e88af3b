// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/plan/reshard_map.h"

#include "core/base/error.h"
#include "core/checkpoint/array_reader.h"
#include "core/compile/mesh/mesh_config.h"
#include "core/ir/text.h"
#include "core/train/engine.h"
#include "core/train/progress.h"
#include "core/train/slot_blocks.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "widgets/mesh/tile_array.h"

#include <QObject>

#include <algorithm>
#include <map>
#include <set>

namespace weft::ui {
namespace {

using sharding::Box;
using sharding::SpecDialect;

/// Boxes in the order of the array.
struct InOrder {
    bool operator()(const Box& a, const Box& b) const {
        return std::pair(std::vector<std::int64_t>(a.start.begin(), a.start.end()),
                         std::vector<std::int64_t>(a.count.begin(), a.count.end())) <
               std::pair(std::vector<std::int64_t>(b.start.begin(), b.start.end()),
                         std::vector<std::int64_t>(b.count.begin(), b.count.end()));
    }
};
/// Which devices save or hold each stretch.
using Pieces = std::map<Box, std::vector<int>, InOrder>;

Pieces savedPieces(const checkpoint::Manifest& manifest, const checkpoint::TensorInfo& tensor) {
    Pieces out;
    for (const checkpoint::PieceInfo& piece : tensor.pieces) {
        out[piece.box].push_back(manifest.writer(piece.shard));
    }
    return out;
}

Pieces heldParts(const plan::ExecutionPlan& target, const plan::StateSlot& slot) {
    Pieces out;
    for (int device = 0; device < target.mesh.devices(); ++device) {
        for (const sharding::Placed& block : train::blocks_of(slot, target.mesh, device)) {
            out[block.box].push_back(device);
        }
    }
    return out;
}

ReshardKind kindOf(const Pieces& saved, const Pieces& held) {
    const bool alike = saved.size() == held.size() &&
                       std::equal(saved.begin(), saved.end(), held.begin(),
                                  [](const auto& a, const auto& b) { return a.first == b.first; });
    if (!alike) {
        return ReshardKind::Cut;
    }
    const bool copied = std::any_of(held.begin(), held.end(),
                                    [](const auto& one) { return one.second.size() > 1; });
    return copied ? ReshardKind::Copied : saved == held ? ReshardKind::Stays : ReshardKind::Moves;
}

QString savedMeshText(const std::string& text) {
    return toQString(text).replace(QStringLiteral(" x "), QStringLiteral(" × "));
}

QString devicesText(const std::vector<int>& devices) {
    return devices.size() == 1
               ? QObject::tr("device %1 reads").arg(devices.front())
               : QObject::tr("devices %1 read").arg(widgets::deviceListText(devices));
}

std::vector<int> sizesOf(const sharding::Mesh& mesh) {
    std::vector<int> out;
    for (const sharding::Axis& axis : mesh.axes) {
        out.push_back(static_cast<int>(axis.size));
    }
    return out;
}

void count(ReshardMap& map, const checkpoint::TensorInfo& tensor, const plan::StateSlot& slot) {
    const sharding::Mesh& mesh = map.target->mesh;
    for (int device = 0; device < mesh.devices(); ++device) {
        ReshardReader& reader = map.devices[static_cast<std::size_t>(device)];
        std::set<const checkpoint::PieceInfo*> opened;
        for (const sharding::Placed& block : train::blocks_of(slot, mesh, device)) {
            for (const checkpoint::PieceUse& use : checkpoint::pieces_used(tensor, block.box)) {
                opened.insert(use.piece);
                reader.read_bytes += use.bytes;
                reader.crossing_bytes +=
                    map.manifest->writer(use.piece->shard) != device ? use.bytes : 0;
            }
        }
        reader.pieces += static_cast<int>(opened.size());
    }
}

/// Specs of saved arrays, which are kept as JAX text, in a dialect.
class SavedSpecs {
public:
    SavedSpecs(const checkpoint::Manifest& manifest, SpecDialect dialect) : dialect_(dialect) {
        for (const auto& [name, size] : manifest.record.mesh) {
            mesh_.axes.push_back({name, size});
        }
        const compile::CheckedRun saved = train::read_saved_config(manifest);
        if (saved.ok()) {
            const std::vector<int> layers =
                compile::placement_of(saved.config.section("mesh")).axes_of("layers");
            stages_ = layers.empty() ? std::nullopt : std::optional(layers.front());
        }
    }
    /// Throws weft::Error where the text is no spec.
    QString text(const std::string& spec) const {
        return toQString(sharding::spec_text(ir::parse_spec(spec), mesh_, dialect_, stages_));
    }

private:
    SpecDialect dialect_;
    sharding::Mesh mesh_;
    std::optional<int> stages_;
};

/// Throws weft::Error.
ReshardMap readReshardMap(const std::filesystem::path& folder, const config::Json& mesh,
                          SpecDialect dialect) {
    ReshardMap out;
    out.manifest = std::make_shared<const checkpoint::Manifest>(checkpoint::read_manifest(folder));
    const compile::CheckedRun checked =
        train::read_saved_config(*out.manifest, {"mesh=" + mesh.dump()});
    if (!checked.ok()) {
        for (const config::Diagnostic& one : checked.diagnostics) {
            if (one.severity == config::Severity::error) {
                throw Error(ErrorKind::usage, one.pointer, one.message, one.hint);
            }
        }
    }
    out.target = std::make_shared<const plan::ExecutionPlan>(train::plan_of_slots(checked.config));
    out.from_mesh = savedMeshText(train::mesh_text(out.manifest->record.mesh));
    out.to_mesh = savedMeshText(out.target->mesh.to_text());
    const SavedSpecs saved(*out.manifest, dialect);
    out.devices.resize(static_cast<std::size_t>(out.target->mesh.devices()));
    for (std::size_t i = 0; i < out.target->state_slots.size(); ++i) {
        const plan::StateSlot& slot = out.target->state_slots[i];
        const checkpoint::TensorInfo* tensor = train::find_saved(*out.manifest, slot);
        if (tensor == nullptr) {
            continue;
        }
        out.rows.push_back(
            {toQString(slot.name), toQString(ir::to_text(slot.whole)), saved.text(tensor->spec),
             specText(*out.target, slot, dialect), slot.whole.bytes(),
             kindOf(savedPieces(*out.manifest, *tensor), heldParts(*out.target, slot)),
             static_cast<int>(i)});
        count(out, *tensor, slot);
    }
    return out;
}

} // namespace

int ReshardMap::count(ReshardKind kind) const {
    return static_cast<int>(std::count_if(rows.begin(), rows.end(),
                                          [&](const ReshardRow& row) { return row.kind == kind; }));
}

ReshardMap mapReshard(const std::filesystem::path& checkpoint, const config::Json& mesh,
                      SpecDialect dialect) {
    try {
        return readReshardMap(checkpoint, mesh, dialect);
    } catch (const Error& error) {
        ReshardMap out;
        const QString where = toQString(error.where());
        out.problem = (where.isEmpty() ? QString() : where + QStringLiteral(": ")) +
                      toQString(error.message());
        out.hint = toQString(error.hint());
        return out;
    }
}

widgets::ReshardArray reshardArray(const ReshardMap& map, const ReshardRow& row) {
    const plan::StateSlot& slot = map.target->state_slots[static_cast<std::size_t>(row.slot)];
    const checkpoint::TensorInfo& tensor = *train::find_saved(*map.manifest, slot);
    const Pieces saved = savedPieces(*map.manifest, tensor);
    const Pieces held = heldParts(*map.target, slot);
    widgets::ReshardArray out;
    for (const auto& [name, size] : map.manifest->record.mesh) {
        out.from_mesh.push_back(static_cast<int>(size));
    }
    out.to_mesh = sizesOf(map.target->mesh);
    out.from = QObject::tr("saved on %1, %2").arg(map.from_mesh, row.from_spec);
    out.to = QObject::tr("held on %1, %2").arg(map.to_mesh, row.to_spec);
    const auto add = [](const Pieces& all, std::vector<widgets::ReshardPiece>& pieces) {
        for (const auto& [box, devices] : all) {
            pieces.push_back({toQString(sharding::to_text(box)), devices, box.elements()});
        }
    };
    add(saved, out.pieces);
    add(held, out.parts);
    // Within a piece the bands lie in the order of the array, and so they do within a part.
    std::vector<qint64> taken(out.pieces.size(), 0);
    int part = 0;
    for (const auto& [box, devices] : held) {
        qint64 filled = 0;
        int piece = 0;
        for (const auto& [whole, writers] : saved) {
            if (const auto common = sharding::overlap(whole, box)) {
                const qint64 elements = common->elements();
                const qint64 bytes = elements * ir::dtype_bytes(tensor.type.dtype);
                const QString name =
                    QObject::tr("%1 %2 of the piece of device %3, %4")
                        .arg(devicesText(devices), toQString(sharding::to_text(*common)))
                        .arg(writers.front())
                        .arg(widgets::formatMemory(bytes)) +
                    (devices.size() > 1 ? QObject::tr(" each") : QString());
                out.bands.push_back(
                    {piece, part, taken[static_cast<std::size_t>(piece)], filled, elements, name});
                taken[static_cast<std::size_t>(piece)] += elements;
                filled += elements;
            }
            ++piece;
        }
        ++part;
    }
    return out;
}

} // namespace weft::ui
