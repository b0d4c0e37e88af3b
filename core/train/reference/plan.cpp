// SPDX-License-Identifier: Apache-2.0
#include "core/train/reference/reference.h"

namespace weft::train {
namespace {

std::vector<ReferenceName> overview_names() {
    return {
        {"parameters", "integer", "Trainable elements of the whole model."},
        {"frozen_parameters", "integer", "Elements of parameters that are not trained."},
        {"spared_bytes", "integer",
         "Gradients and optimizer state that these would have, as whole arrays."},
        {"flops_per_step", "number", "Of one update, on one device of a mesh."},
        {"compile_ms", "number", "How long the plan took, milliseconds."},
        {"predicted_step_ms", "number or null",
         "Of one update, milliseconds; null: no rates are known."},
        {"predicted_error", "number or null", "How far the prediction may be off, as a share."},
        {"prediction_basis", "text", "What the prediction stands on."},
        {"communication_ms", "number or null", "Of these, exchanges that nothing hides."},
        {"fits", "boolean", "Whether the memory of a device is enough."},
        {"memory_bytes", "integer",
         "What the run takes on this machine, or on one device of others."},
        {"limit_bytes", "integer or null", "What there is."},
        {"limit_basis", "text", "Of what."},
        {"assumptions", "list of text", "What the figures assume."},
        {"mesh", "list", "Axes, major to minor: [name, size]."},
        {"strategy", "text", "mesh.strategy."},
        {"rules", "list", "What the strategy wrote: [logical axis, [mesh axes]]."},
        {"zero_stage", "integer", "mesh.zero_stage."},
    };
}

std::vector<ReferenceName> device_names() {
    return {
        {"devices[].ids", "text", "Devices that hold the same: \"0-3,8\"."},
        {"devices[].kind", "text", "cpu or cuda."},
        {"devices[].hardware", "text", "The name of the device, where one is planned for."},
        {"devices[].program", "text", "The program with the largest peak."},
        {"devices[].peak_bytes", "integer", "Most that is held at a time."},
        {"devices[].peak_op", "text", "Where."},
        {"devices[].by_category.<category>", "integer",
         "Bytes at the peak: parameters, gradients, optimizer, state, packed_weights, activations, "
         "workspace, batch, communication, staging, library."},
        {"devices[].timeline", "list", "[index of the op, bytes held], where the amount changes."},
        {"devices[].arena_bytes", "integer", "The one stretch of memory that is taken."},
        {"devices[].holes_bytes", "integer", "Of the peak: what no category accounts for."},
        {"devices[].stage", "integer", "Of a pipeline: the stage."},
        {"devices[].layers", "text", "Of a pipeline: what the stage holds."},
        {"host.data_cache_bytes", "integer", "Decoded samples."},
        {"host.prefetch_bytes", "integer", "Batches made ahead."},
        {"host.staging_bytes", "integer", "What a checkpoint is copied to before it is written."},
        {"host.inside_bytes", "integer",
         "What a look inside the network compares weights with (log.inside_every)."},
        {"host.library_bytes", "integer", "What libraries keep for themselves."},
        {"on_device.landing_bytes", "integer",
         "Beside the arena of a device that works by itself: the arguments of the next step."},
        {"on_device.context_bytes", "integer",
         "What the driver keeps there: estimated, in a run's own plan measured; so the next two."},
        {"on_device.library_bytes", "integer", "What libraries keep there, with kernels' code."},
        {"on_device.exchange_bytes", "integer", "What groups of devices keep there."},
    };
}

std::vector<ReferenceName> tensor_names() {
    return {
        {"tensors[].name", "text",
         "Layer path of a parameter; \"optimizer.m/\" and the like before "
         "it for what belongs to it."},
        {"tensors[].kind", "text", "Its category."},
        {"tensors[].global_shape", "list of integer", "Of the whole array."},
        {"tensors[].local_shape", "list of integer", "Of a device's part."},
        {"tensors[].spec", "text", "How it lies on the mesh: \"P(None, 'model')\"."},
        {"tensors[].replicas", "integer", "How many devices hold the same part."},
        {"tensors[].padding_bytes", "integer", "Of a device's part: added so that all are equal."},
        {"tensors[].local_bytes", "integer", "Of a device's part."},
        {"tensors[].weight_decay", "number", "Of parameters: the decay that the update uses."},
        {"tensors[].by_row", "boolean",
         "Of parameters: it is a table of which an update changes the rows of its batch; such are "
         "not "
         "counted in parameters."},
        {"tensors[].stage", "integer", "Of a pipeline: the stage that holds it."},
    };
}

std::vector<ReferenceName> collective_names() {
    return {
        {"collectives[].number", "integer", "Among those of its group, in the order of calls."},
        {"collectives[].kind", "text",
         "all_reduce, all_gather, reduce_scatter, all_to_all, permute, "
         "broadcast or send_recv."},
        {"collectives[].axes", "list of text", "Mesh axes that it goes over."},
        {"collectives[].bytes", "integer", "Of the whole array."},
        {"collectives[].sent_bytes", "integer", "What one device sends."},
        {"collectives[].count", "number", "Times in one step."},
        {"collectives[].cause", "text", "What needs it, in short."},
        {"collectives[].what", "text", "What travels."},
        {"collectives[].why", "text", "Why, in a sentence."},
        {"collectives[].tensor", "text", "The state that it belongs to; empty: none."},
        {"collectives[].path", "text", "The layer."},
        {"collectives[].phase", "text", "forward, backward or update."},
        {"collectives[].index", "integer", "Its place among the ops."},
        {"collectives[].overlaps", "text or null", "What hides it."},
        {"collectives[].predicted_ms", "number or null", "Milliseconds of one call."},
        {"collectives[].stage", "integer", "Of a pipeline: the stage that makes it."},
    };
}

std::vector<ReferenceName> pipeline_names() {
    return {
        {"pipeline.stages", "integer", "Stages."},
        {"pipeline.chunks", "integer", "Parts of the model per stage."},
        {"pipeline.microbatches", "integer", "That flow through it in a step."},
        {"pipeline.schedule", "text", "mesh.pipeline.schedule."},
        {"pipeline.bubble_fraction", "number", "Share of the step in which stages wait."},
        {"pipeline.even_bubble_fraction", "number", "The same if all stages took equally long."},
        {"pipeline.actions", "list", "Per stage the actions in order: \"F0\", \"B0\"."},
        {"pipeline.times", "list",
         "Per stage [action, start ms, end ms], where times are predicted."},
    };
}

std::vector<ReferenceName> program_names() {
    return {
        {"programs[].name", "text", "train_step, evaluate, predict, prefill, decode or init."},
        {"programs[].stage", "integer", "Of a pipeline: whose program it is; else 0."},
        {"programs[].peak_bytes", "integer", "Most that it holds at a time."},
        {"programs[].peak_op", "text", "Where."},
        {"programs[].flops", "number", "Of one call."},
        {"programs[].segments[].name", "text",
         "A stretch of the program: \"microstep\", \"update\"."},
        {"programs[].segments[].repeat", "integer", "How often it runs."},
        {"programs[].segments[].first_op", "integer", "Its first op."},
        {"programs[].segments[].ops", "integer", "How many it has."},
        {"ops[].index", "integer", "Of the training step: the op's place."},
        {"ops[].name", "text", "The op, \"matmul\"."},
        {"ops[].path", "text", "The layer that it came from."},
        {"ops[].phase", "text", "forward, backward or update."},
        {"ops[].kernel", "text", "Back end and kernel that run it."},
        {"ops[].times", "number", "Times in one step."},
        {"ops[].flops", "number", "Of all times together."},
        {"ops[].bytes", "number", "Read and written, of all times together."},
        {"ops[].predicted_ms", "number or null", "Of all times together."},
        {"ops[].share", "number or null", "Of the predicted time of the step."},
        {"pass_times[].program", "text", "Compiled program."},
        {"pass_times[].pass", "text", "Pass of the compiler."},
        {"pass_times[].ms", "number", "How long it took, milliseconds."},
    };
}

/// Of fixes, advice and recompute_curve alike.
std::vector<ReferenceName> alternative_names() {
    return {
        {"change", "text", "What is otherwise, in words."},
        {"overrides", "list of text", "The same as --set takes it."},
        {"peak_bytes", "integer", "Memory of a device then."},
        {"activation_bytes", "integer",
         "Of these, what the forward pass keeps for the backward one."},
        {"predicted_step_ms", "number or null", "Of one update then."},
        {"communication_ms", "number or null", "Of these, exchanges."},
        {"fits", "boolean", "Whether the memory is enough then."},
        {"on_front", "boolean", "Nothing else in the list is better in memory and in time."},
    };
}

std::vector<ReferenceName> diagnostic_names() {
    return {
        {"diagnostics[].pointer", "text", "JSON pointer of the setting; empty: none."},
        {"diagnostics[].severity", "text", "warning or note."},
        {"diagnostics[].message", "text", "What was found."},
        {"diagnostics[].hint", "text", "What to do."},
        {"diagnostics[].tensor", "text", "Of sharding: the array."},
        {"diagnostics[].bytes", "integer", "Of sharding: what it costs on a device."},
        {"diagnostics[].fixes[].change", "text", "A change that mends it, in words."},
        {"diagnostics[].fixes[].overrides", "list of text", "The same as --set takes it."},
    };
}

} // namespace

const ReferencePage& plan_page() {
    static const ReferencePage kPage = {
        "plan",
        "The plan as JSON",
        "What `weft plan --json` prints and plan.json in the folder of a run holds. Bytes and "
        "milliseconds throughout. Devices that hold the same share an entry.",
        {{"Overview", "", overview_names()},
         {"Devices and memory", "", device_names()},
         {"Arrays", "", tensor_names()},
         {"Collectives", "Of the training step, in the order of the program.", collective_names()},
         {"Pipeline", "null without one.", pipeline_names()},
         {"Programs and ops", "", program_names()},
         {"Alternatives",
          "Entries of the lists \"fixes\" (what would fit), \"recompute_curve\" and, with "
          "--advise, "
          "\"advice\".",
          alternative_names()},
         {"Diagnostics", "", diagnostic_names()}}};
    return kPage;
}

} // namespace weft::train
