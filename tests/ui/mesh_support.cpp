// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/ui/mesh_support.h"

#include "core/base/check.h"
#include "core/train/reshard.h"
#include "core/train/slot_blocks.h"

#include <list>

namespace weft::test {

compile::RunConfig mesh_config(const std::vector<std::string>& overrides) {
    compile::CheckedRun checked = compile::read_run_config(std::string_view(R"({
      "schema_version": 1, "name": "small-gpt", "seed": 3,
      "data": {"train": {"type": "synthetic", "kind": "tokens", "vocab": 64, "samples": 512}},
      "model": {"type": "gpt2", "layers": 4, "width": 32, "heads": 4, "context": 16, "vocab": 64,
                "dropout": 0.0},
      "training": {"length": {"steps": 10}, "global_batch_size": 16, "precision": "f32"},
      "evaluation": {"samples": 0}
    })"),
                                                           "/", overrides);
    WEFT_CHECK(checked.ok(), config::to_text(checked.diagnostics.front()));
    return std::move(checked.config);
}

std::shared_ptr<const ui::PlanDigest> mesh_digest(const compile::RunConfig& config) {
    return ui::digestPlan(ui::enginePlanner({}).step(config, nullptr, {}));
}

checkpoint::Manifest save_zeros(const compile::RunConfig& config,
                                const std::filesystem::path& parent) {
    const plan::ExecutionPlan plan = train::plan_of_slots(config);
    std::list<std::vector<std::byte>> memory;
    std::vector<checkpoint::TensorView> views;
    for (const plan::StateSlot& slot : plan.state_slots) {
        if (!slot.saved) {
            continue;
        }
        checkpoint::TensorView view{slot.name, std::string(plan::category_name(slot.category)),
                                    slot.whole};
        view.spec = train::spec_text(slot, plan.mesh);
        for (const train::OwnedBlock& owned : train::owned_blocks(slot, plan.mesh)) {
            const sharding::Placed place = sharding::dense(owned.place.box);
            memory.emplace_back(
                static_cast<std::size_t>(place.box.elements() * ir::dtype_bytes(slot.whole.dtype)));
            view.pieces.push_back({place, memory.back(), owned.device});
        }
        views.push_back(std::move(view));
    }
    checkpoint::Record record;
    record.config = config.document;
    record.mesh = train::recorded_axes(plan.mesh);
    std::filesystem::create_directories(parent);
    return checkpoint::write_checkpoint(parent, views, record);
}

} // namespace weft::test
