// SPDX-License-Identifier: Apache-2.0
#include "core/train/reshard.h"

#include "core/base/error.h"
#include "core/checkpoint/array_reader.h"
#include "core/compile/programs/programs.h"
#include "core/train/progress.h"
#include "core/train/slot_blocks.h"

namespace weft::train {
namespace {

ReshardedTensor preview_tensor(const checkpoint::Manifest& manifest,
                               const checkpoint::TensorInfo& tensor, const plan::StateSlot& slot,
                               const sharding::Mesh& mesh) {
    ReshardedTensor out{slot.name, slot.whole, tensor.spec, spec_text(slot, mesh), {}};
    for (int device = 0; device < mesh.devices(); ++device) {
        for (const sharding::Placed& block : blocks_of(slot, mesh, device)) {
            for (const checkpoint::PieceUse& use : checkpoint::pieces_used(tensor, block.box)) {
                out.moves.push_back(
                    {device, manifest.writer(use.piece->shard), use.common, use.bytes});
            }
        }
    }
    return out;
}

/// A slot's array as the target would save it, and the memory that it is in.
checkpoint::TensorView read_view(checkpoint::ArrayReader& reader,
                                 const checkpoint::TensorInfo& tensor, const plan::StateSlot& slot,
                                 const sharding::Mesh& mesh,
                                 std::vector<std::vector<std::byte>>& memory) {
    checkpoint::TensorView view{tensor.name, tensor.kind, tensor.type};
    view.spec = spec_text(slot, mesh);
    std::vector<checkpoint::Destination> destinations;
    for (const OwnedBlock& owned : owned_blocks(slot, mesh)) {
        const sharding::Placed place = sharding::dense(owned.place.box);
        auto& bytes = memory.emplace_back(
            static_cast<std::size_t>(place.box.elements() * ir::dtype_bytes(tensor.type.dtype)));
        destinations.push_back({place, bytes});
        view.pieces.push_back({place, bytes, owned.device});
    }
    reader.read(tensor, destinations);
    return view;
}

} // namespace

ReshardTotals ReshardPreview::total() const {
    ReshardTotals out;
    for (const ReshardTotals& device : devices) {
        out.read_bytes += device.read_bytes;
        out.crossing_bytes += device.crossing_bytes;
    }
    return out;
}

plan::ExecutionPlan plan_of_slots(const compile::RunConfig& config) {
    const data::DataOutline data =
        data::outline_data(config.section("data"), {config.base_dir, config.context(), config.seed},
                           data::Files::may_be_absent);
    return compile::compile_run(config, data.sample, {}, compile::Scope::layout);
}

ReshardPreview preview_reshard(const checkpoint::Manifest& manifest,
                               const plan::ExecutionPlan& target) {
    ReshardPreview out{mesh_text(manifest.record.mesh), target.mesh.to_text(), {}, {}};
    out.devices.resize(static_cast<std::size_t>(target.mesh.devices()));
    for (const plan::StateSlot& slot : target.state_slots) {
        const checkpoint::TensorInfo* tensor = find_saved(manifest, slot);
        if (tensor == nullptr) {
            continue;
        }
        out.tensors.push_back(preview_tensor(manifest, *tensor, slot, target.mesh));
        for (const ReshardMove& move : out.tensors.back().moves) {
            ReshardTotals& device = out.devices[static_cast<std::size_t>(move.device)];
            device.read_bytes += move.bytes;
            device.crossing_bytes += move.device != move.writer ? move.bytes : 0;
        }
    }
    return out;
}

checkpoint::Manifest write_resharded(const checkpoint::Manifest& manifest,
                                     const plan::ExecutionPlan& target,
                                     const compile::RunConfig& config,
                                     const std::filesystem::path& parent) {
    const std::filesystem::path folder = parent / checkpoint::folder_name(manifest.record.step);
    std::error_code problem;
    if (std::filesystem::exists(folder, problem)) {
        throw Error(ErrorKind::checkpoint, folder.string(),
                    "there is a folder of this name already", "Name another folder with --to.");
    }
    checkpoint::ArrayReader reader(manifest);
    std::vector<std::vector<std::byte>> memory;
    std::vector<checkpoint::TensorView> views;
    for (const plan::StateSlot& slot : target.state_slots) {
        if (const checkpoint::TensorInfo* tensor = find_saved(manifest, slot)) {
            views.push_back(read_view(reader, *tensor, slot, target.mesh, memory));
        } else if (slot.saved) {
            throw Error(ErrorKind::checkpoint, manifest.path.string(),
                        "the checkpoint lacks the array " + slot.name,
                        "Change the mesh only, not the model or the optimizer.");
        }
    }
    checkpoint::Record record = manifest.record;
    record.config = config.document;
    record.mesh = recorded_axes(target.mesh);
    if (manifest.tokenizer) {
        record.tokenizer =
            std::make_shared<const std::string>(checkpoint::read_tokenizer_of(manifest));
    }
    return checkpoint::write_checkpoint(parent, views, record);
}

} // namespace weft::train
