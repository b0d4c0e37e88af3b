// SPDX-License-Identifier: Apache-2.0
// weft checkpoint reshard CHECKPOINT: what each device of another mesh reads of a checkpoint, or a
// copy that lies as that mesh would save it.
#include "core/train/reshard.h"
#include "app/cli/commands/commands.h"
#include "app/cli/json_output.h"
#include "app/cli/store_paths.h"
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/train/engine.h"

namespace weft::cli {
namespace {

using config::Json;

struct ReshardOptions {
    std::string path;
    std::string from = "latest";
    std::string devices;
    std::vector<std::string> overrides;
    std::string to;
    bool preview = false;
    bool json = false;
};

Json preview_json(const checkpoint::Manifest& manifest, const train::ReshardPreview& preview) {
    Json tensors = Json::array();
    for (const train::ReshardedTensor& tensor : preview.tensors) {
        Json moves = Json::array();
        for (const train::ReshardMove& move : tensor.moves) {
            moves.push_back({{"device", move.device},
                             {"writer", move.writer},
                             {"block", sharding::to_text(move.block)},
                             {"bytes", move.bytes}});
        }
        tensors.push_back({{"name", tensor.name},
                           {"type", ir::to_text(tensor.type)},
                           {"from_spec", tensor.from_spec},
                           {"to_spec", tensor.to_spec},
                           {"moves", std::move(moves)}});
    }
    Json devices = Json::array();
    for (const train::ReshardTotals& device : preview.devices) {
        devices.push_back(
            {{"read_bytes", device.read_bytes}, {"crossing_bytes", device.crossing_bytes}});
    }
    const train::ReshardTotals total = preview.total();
    return {{"checkpoint", manifest.path.string()}, {"step", manifest.record.step},
            {"from_mesh", preview.from_mesh},       {"to_mesh", preview.to_mesh},
            {"tensors", std::move(tensors)},        {"devices", std::move(devices)},
            {"read_bytes", total.read_bytes},       {"crossing_bytes", total.crossing_bytes}};
}

void print_preview(const train::ReshardPreview& preview) {
    std::printf("%s -> %s\n", preview.from_mesh.c_str(), preview.to_mesh.c_str());
    for (const train::ReshardedTensor& tensor : preview.tensors) {
        std::printf("%s %s  %s -> %s\n", tensor.name.c_str(), ir::to_text(tensor.type).c_str(),
                    tensor.from_spec.c_str(), tensor.to_spec.c_str());
        for (const train::ReshardMove& move : tensor.moves) {
            std::printf("  device %d reads %s of the shard of device %d: %s\n", move.device,
                        sharding::to_text(move.block).c_str(), move.writer,
                        format_bytes(move.bytes).c_str());
        }
    }
    const auto line = [](const std::string& who, const train::ReshardTotals& totals) {
        std::printf("%s: reads %s, %s of them from other devices' shards\n", who.c_str(),
                    format_bytes(totals.read_bytes).c_str(),
                    format_bytes(totals.crossing_bytes).c_str());
    };
    for (std::size_t device = 0; device < preview.devices.size(); ++device) {
        line("device " + std::to_string(device), preview.devices[device]);
    }
    line("all devices", preview.total());
}

int reshard(const ReshardOptions& options, const Context& context) {
    if (options.preview != options.to.empty()) {
        throw Error(ErrorKind::usage, "weft checkpoint reshard",
                    "give --preview, or --to with the folder for the copy");
    }
    const checkpoint::Manifest manifest =
        checkpoint::read_manifest(checkpoint_at(options.path, options.from, context));
    std::vector<std::string> overrides = options.overrides;
    if (!options.devices.empty()) {
        overrides.push_back("mesh.devices=\"" + options.devices + "\"");
    }
    const compile::CheckedRun checked = train::read_saved_config(manifest, overrides);
    if (!checked.ok()) {
        if (options.json) {
            print_json({{"diagnostics", diagnostics_json(checked.diagnostics)}});
        } else {
            print_diagnostics(checked.diagnostics);
        }
        return kExitUsage;
    }
    const plan::ExecutionPlan target = train::plan_of_slots(checked.config);
    const train::ReshardPreview preview = train::preview_reshard(manifest, target);
    Json document = preview_json(manifest, preview);
    std::string written;
    if (!options.preview) {
        written =
            train::write_resharded(manifest, target, checked.config, options.to).path.string();
        document["written"] = written;
    }
    if (options.json) {
        print_json(document);
    } else if (options.preview) {
        print_preview(preview);
    } else {
        std::printf("%s\n", written.c_str());
    }
    return 0;
}

} // namespace

void add_reshard(Command checkpoint, Context& context) {
    auto options = std::make_shared<ReshardOptions>();
    const Command command = checkpoint.subcommand(
        "reshard", "show what another mesh reads of a checkpoint, or write it for that mesh");
    command.positional("CHECKPOINT", &options->path, "checkpoint or run folder").required();
    command.option("--from", &options->from, "of a run: latest, best or a step").show_default();
    command.option("--devices", &options->devices, "devices of the other mesh, e.g. cpu:8");
    command.option("--set", &options->overrides, "change a setting: mesh.strategy=fsdp")
        .one_value();
    const Option preview = command.flag("--preview", &options->preview,
                                        "show what each device would read; write nothing");
    command.option("--to", &options->to, "folder in which the copy is written").excludes(preview);
    command.flag("--json", &options->json, "print JSON");
    command.callback([options, &context] { context.exit_code = reshard(*options, context); });
}

} // namespace weft::cli
