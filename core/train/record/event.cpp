// SPDX-License-Identifier: Apache-2.0
#include "core/train/record/event.h"

#include <cmath>

namespace weft::train {
namespace {

using config::Json;

Json number_or_null(double value) {
    if (std::isnan(value)) {
        return "nan";
    }
    if (std::isinf(value)) {
        return value > 0 ? "inf" : "-inf";
    }
    return value;
}

Json metrics_json(const Metrics& metrics) {
    Json out = Json::object();
    for (const auto& [name, value] : metrics) {
        out[name] = number_or_null(value);
    }
    return out;
}

void write(Json& out, const StateEvent& event) {
    out["state"] = state_name(event.state);
    if (!event.reason.empty()) {
        out["reason"] = event.reason;
    }
    if (!event.phase.empty()) {
        out["phase"] = event.phase;
    }
    if (event.phase_ms != 0) {
        out["phase_ms"] = number_or_null(event.phase_ms);
    }
    if (event.total_steps != 0) {
        out["total_steps"] = event.total_steps;
    }
}

void write(Json& out, const OpeningEvent& event) {
    const data::Opening& opening = event.opening;
    out["name"] = opening.name;
    out["unit"] = opening.unit;
    out["done"] = opening.done;
    out["total"] = opening.total;
    out["bytes"] = opening.bytes;
    out["total_bytes"] = opening.total_bytes;
    out["pass"] = opening.pass;
    out["passes"] = opening.passes;
    out["seconds"] = event.seconds;
}

void write(Json& out, const StepEvent& event) {
    out["step"] = event.step;
    out["epoch"] = number_or_null(event.epoch);
    out["loss"] = number_or_null(event.loss);
    out["learning_rate"] = number_or_null(event.learning_rate);
    out["grad_norm"] = number_or_null(event.grad_norm);
    out["samples_per_s"] = number_or_null(event.samples_per_s);
    if (event.tokens_per_s) {
        out["tokens_per_s"] = number_or_null(*event.tokens_per_s);
    }
    out["step_ms"] = number_or_null(event.step_ms);
    out["data_wait_ms"] = number_or_null(event.data_wait_ms);
    out["memory_bytes"] = event.memory_bytes;
    if (event.mfu) {
        out["mfu"] = number_or_null(*event.mfu);
    }
    if (!event.metrics.empty()) {
        out["metrics"] = metrics_json(event.metrics);
    }
}

void write(Json& out, const EvaluationEvent& event) {
    out["step"] = event.step;
    out["metrics"] = metrics_json(event.metrics);
}

void write(Json& out, const CheckpointEvent& event) {
    out["step"] = event.step;
    out["path"] = event.path;
    out["bytes"] = event.bytes;
    out["blocked_ms"] = number_or_null(event.blocked_ms);
    out["write_ms"] = number_or_null(event.write_ms);
    out["kept_for"] = event.kept_for;
    out["waited_ms"] = number_or_null(event.waited_ms);
    for (const auto& [key, value] : {std::pair{"step_before_ms", event.step_before_ms},
                                     {"step_during_ms", event.step_during_ms},
                                     {"step_longest_ms", event.step_longest_ms}}) {
        if (value) {
            out[key] = number_or_null(*value);
        }
    }
}

void write(Json& out, const SampleEvent& event) {
    out["step"] = event.step;
    out["path"] = event.path;
}

void write(Json& out, const SystemEvent& event) {
    out["devices"] = event.devices;
    out["host"] = event.host;
    if (!event.memory.is_null()) {
        out["memory"] = event.memory;
    }
}

Json gpu_json(const DevicesEvent::Gpu& gpu) {
    Json out{{"number", gpu.number}, {"name", gpu.name}, {"memory_bytes", gpu.memory_bytes}};
    const auto add = [&](const char* key, const auto& value) {
        if (value) {
            out[key] = *value;
        }
    };
    add("memory_used_bytes", gpu.memory_used_bytes);
    add("utilisation", gpu.utilisation);
    add("power_w", gpu.power_w);
    add("power_limit_w", gpu.power_limit_w);
    add("temperature_c", gpu.temperature_c);
    return out;
}

void write(Json& out, const DevicesEvent& event) {
    out["step"] = event.step;
    Json devices = Json::array();
    for (const DevicesEvent::Device& device : event.devices) {
        devices.push_back({{"compute_ms", device.compute_ms},
                           {"exchange_ms", device.exchange_ms},
                           {"waited_ms", device.waited_ms},
                           {"sent_bytes", device.sent_bytes},
                           {"memory_bytes", device.memory_bytes},
                           {"planned_compute_ms", device.planned_compute_ms},
                           {"planned_exchange_ms", device.planned_exchange_ms},
                           {"planned_memory_bytes", device.planned_memory_bytes}});
        if (!device.host.empty()) {
            devices.back()["host"] = device.host;
        }
        if (device.gpu) {
            devices.back()["gpu"] = gpu_json(*device.gpu);
        }
    }
    out["devices"] = std::move(devices);
    for (const DevicesEvent::Link& link : event.links) {
        out["links"].push_back({{"axes", link.axes},
                                {"between_hosts", link.between_hosts},
                                {"exchange_ms", link.exchange_ms},
                                {"waited_ms", link.waited_ms},
                                {"sent_bytes", link.sent_bytes},
                                {"planned_ms", link.planned_ms}});
    }
    if (event.stages.empty()) {
        return;
    }
    Json stages = Json::array();
    for (const auto& actions : event.stages) {
        Json stage = Json::array();
        for (const DevicesEvent::Action& action : actions) {
            stage.push_back({action.action, action.start_ms, action.end_ms});
        }
        stages.push_back(std::move(stage));
    }
    out["stages"] = std::move(stages);
}

void write(Json& out, const LoaderEvent& event) {
    out["step"] = event.step;
    if (event.rank) {
        out["rank"] = *event.rank;
    }
    out["steps_ms"] = event.steps_ms;
    out["wait_ms"] = event.wait_ms;
    out["workers"] = event.workers;
    out["prefetch"] = event.prefetch;
    out["ready"] = event.ready;
    out["samples"] = event.samples;
    out["read_ms"] = event.read_ms;
    out["decode_ms"] = event.decode_ms;
    out["transform_ms"] = event.transform_ms;
    out["batch_ms"] = event.batch_ms;
}

void write(Json& out, const ResumedEvent& event) {
    out["from"] = event.from;
    out["step"] = event.step;
}

void write(Json& out, const CommandEvent& event) {
    out["by"] = event.by;
    out["command"] = event.command;
    out["id"] = event.id;
    out["accepted"] = event.accepted;
    if (!event.reason.empty()) {
        out["reason"] = event.reason;
    }
}

void write(Json& out, const RecordingEvent& event) {
    out["step"] = event.step;
    out["steps"] = event.steps;
    out["asked"] = event.asked;
    out["path"] = event.path;
    out["cut_short"] = event.cut_short;
}

void write(Json& out, const RankEvent& event) {
    out["rank"] = event.rank;
    out["state"] = event.state;
    out["host"] = event.host;
    out["message"] = event.message;
}

void write(Json& out, const RestartEvent& event) {
    out["attempt"] = event.attempt;
    out["most"] = event.most;
    out["exit_code"] = event.exit_code;
    out["reason"] = event.reason;
}

void write(Json& out, const DivergenceEvent& event) {
    out["step"] = event.step;
    out["message"] = event.message;
    out["path"] = event.path;
    if (event.back_to >= 0) {
        out["back_to"] = event.back_to;
    }
    if (event.passes_over > 0) {
        out["passes_over"] = event.passes_over;
    }
}

void write(Json& out, const SettingsEvent& event) {
    out["step"] = event.step;
    out["by"] = event.by;
    out["path"] = event.path;
    out["value"] = event.value;
    if (event.replayed) {
        out["replayed"] = true;
    }
}

void write(Json& out, const NoteEvent& event) {
    out["message"] = event.message;
}

void write(Json& out, const WarningEvent& event) {
    out["message"] = event.message;
    out["hint"] = event.hint;
}

void write(Json& out, const ErrorEvent& event) {
    out["kind"] = event.kind;
    out["where"] = event.where;
    out["message"] = event.message;
    out["hint"] = event.hint;
    if (event.ways_on.empty()) {
        return;
    }
    Json ways = Json::array();
    for (const WayOn& way : event.ways_on) {
        ways.push_back(
            {{"label", way.label}, {"from_step", way.from_step}, {"overrides", way.overrides}});
    }
    out["ways_on"] = std::move(ways);
}

void write(Json& out, const FinishedEvent& event) {
    out["steps"] = event.steps;
    out["seconds"] = number_or_null(event.seconds);
    out["best"] = metrics_json(event.best);
    out["last"] = metrics_json(event.last);
    out["test"] = metrics_json(event.test);
}

void write(Json& out, const SkippedEvent& event) {
    out["step"] = event.step;
    out["reason"] = event.reason;
    out["loss_scale"] = number_or_null(event.loss_scale);
    out["skipped"] = event.skipped;
}

} // namespace

std::string sentence_of(const RankEvent& event) {
    return "rank " + std::to_string(event.rank) + (event.host.empty() ? "" : " on " + event.host) +
           (event.state == "joined" ? " has joined" : " is " + event.state) +
           (event.message.empty() ? "" : ": " + event.message);
}

std::string sentence_of(const DivergenceEvent& event) {
    if (event.back_to < 0) {
        return event.message;
    }
    return event.message + " The run goes back to step " + std::to_string(event.back_to) +
           (event.passes_over > 0
                ? " and leaves step " + std::to_string(event.passes_over) + " out."
                : " and repeats what followed, to find the update that did it.");
}

Payload event_of(const data::Note& note) {
    return note.is_decision ? Payload(NoteEvent{note}) : Payload(WarningEvent{note, ""});
}

std::string_view event_name(const Payload& payload) {
    static constexpr std::string_view kNames[] = {
        "state",   "opening", "step",      "evaluation", "checkpoint", "sample",     "system",
        "devices", "resumed", "command",   "warning",    "error",      "finished",   "note",
        "skipped", "loader",  "recording", "rank",       "restart",    "divergence", "settings"};
    static_assert(std::size(kNames) == std::variant_size_v<Payload>);
    return kNames[payload.index()];
}

Json to_json(const Event& event) {
    Json out = Json::object();
    out["event"] = event_name(event.payload);
    out["seq"] = event.seq;
    out["time"] = event.time;
    std::visit([&](const auto& payload) { write(out, payload); }, event.payload);
    return out;
}

std::string to_line(const Event& event) {
    // Paths and messages may hold bytes that are not UTF-8; an event is never lost over them.
    return to_json(event).dump(-1, ' ', false, Json::error_handler_t::replace);
}

} // namespace weft::train
