// SPDX-License-Identifier: Apache-2.0
// Reading events back. A missing key keeps its default (an older program wrote less); a key of the
// wrong type makes the line damaged.
#include "core/train/record/event.h"
#include "core/train/record/step_line.h"

#include <array>
#include <limits>
#include <stdexcept>

namespace weft::train {
namespace {

using config::Json;

double number_of(const Json& value) {
    if (value.is_number()) {
        return value.get<double>();
    }
    const auto text = value.get<std::string>();
    if (text == "nan") {
        return std::numeric_limits<double>::quiet_NaN();
    }
    if (text == "inf" || text == "-inf") {
        return text == "inf" ? std::numeric_limits<double>::infinity()
                             : -std::numeric_limits<double>::infinity();
    }
    throw std::invalid_argument("not a number");
}

// One event object; each read() leaves its target alone when the key is absent.
class Reader {
public:
    explicit Reader(const Json& json) : json_(json) {}

    void read(const char* key, double& into) const {
        if (const Json* value = find(key)) {
            into = number_of(*value);
        }
    }
    void read(const char* key, std::optional<double>& into) const {
        if (const Json* value = find(key)) {
            into = number_of(*value);
        }
    }
    template <typename Number>
    void read(const char* key, std::optional<Number>& into) const {
        if (const Json* value = find(key)) {
            into = value->get<Number>();
        }
    }
    void read(const char* key, Metrics& into) const {
        if (const Json* value = find(key)) {
            for (const auto& [name, item] : value->items()) {
                into.emplace_back(name, number_of(item));
            }
        }
    }
    void read(const char* key, Json& into) const {
        if (const Json* value = find(key)) {
            into = *value;
        }
    }
    template <typename T>
    void read(const char* key, T& into) const {
        if (const Json* value = find(key)) {
            into = value->get<T>();
        }
    }
    const Json* find(const char* key) const {
        const auto found = json_.find(key);
        return found == json_.end() ? nullptr : &*found;
    }

private:
    const Json& json_;
};

void read_into(const Reader& in, StateEvent& event) {
    std::string name;
    in.read("state", name);
    for (int i = 0; i <= static_cast<int>(RunState::failed); ++i) {
        if (state_name(static_cast<RunState>(i)) == name) {
            event.state = static_cast<RunState>(i);
            in.read("reason", event.reason);
            in.read("phase", event.phase);
            in.read("phase_ms", event.phase_ms);
            in.read("total_steps", event.total_steps);
            return;
        }
    }
    throw std::invalid_argument("unknown state");
}

void read_into(const Reader& in, OpeningEvent& event) {
    data::Opening& opening = event.opening;
    in.read("name", opening.name);
    in.read("unit", opening.unit);
    in.read("done", opening.done);
    in.read("total", opening.total);
    in.read("bytes", opening.bytes);
    in.read("total_bytes", opening.total_bytes);
    in.read("pass", opening.pass);
    in.read("passes", opening.passes);
    in.read("seconds", event.seconds);
}

void read_into(const Reader& in, StepEvent& event) {
    in.read("step", event.step);
    in.read("epoch", event.epoch);
    in.read("loss", event.loss);
    in.read("learning_rate", event.learning_rate);
    in.read("grad_norm", event.grad_norm);
    in.read("samples_per_s", event.samples_per_s);
    in.read("tokens_per_s", event.tokens_per_s);
    in.read("step_ms", event.step_ms);
    in.read("data_wait_ms", event.data_wait_ms);
    in.read("memory_bytes", event.memory_bytes);
    in.read("mfu", event.mfu);
    in.read("metrics", event.metrics);
}

void read_into(const Reader& in, EvaluationEvent& event) {
    in.read("step", event.step);
    in.read("metrics", event.metrics);
}

void read_into(const Reader& in, CheckpointEvent& event) {
    in.read("step", event.step);
    in.read("path", event.path);
    in.read("bytes", event.bytes);
    in.read("blocked_ms", event.blocked_ms);
    in.read("write_ms", event.write_ms);
    in.read("kept_for", event.kept_for);
    in.read("waited_ms", event.waited_ms);
    in.read("step_before_ms", event.step_before_ms);
    in.read("step_during_ms", event.step_during_ms);
    in.read("step_longest_ms", event.step_longest_ms);
}

void read_into(const Reader& in, SampleEvent& event) {
    in.read("step", event.step);
    in.read("path", event.path);
}

void read_into(const Reader& in, SystemEvent& event) {
    in.read("devices", event.devices);
    in.read("host", event.host);
    in.read("memory", event.memory);
}

void read_into(const Reader& in, DevicesEvent::Gpu& gpu) {
    in.read("number", gpu.number);
    in.read("name", gpu.name);
    in.read("memory_bytes", gpu.memory_bytes);
    in.read("memory_used_bytes", gpu.memory_used_bytes);
    in.read("utilisation", gpu.utilisation);
    in.read("power_w", gpu.power_w);
    in.read("power_limit_w", gpu.power_limit_w);
    in.read("temperature_c", gpu.temperature_c);
}

void read_into(const Reader& in, DevicesEvent& event) {
    in.read("step", event.step);
    if (const Json* devices = in.find("devices")) {
        for (const Json& item : *devices) {
            const Reader device_in(item);
            DevicesEvent::Device& device = event.devices.emplace_back();
            device_in.read("compute_ms", device.compute_ms);
            device_in.read("exchange_ms", device.exchange_ms);
            device_in.read("waited_ms", device.waited_ms);
            device_in.read("sent_bytes", device.sent_bytes);
            device_in.read("memory_bytes", device.memory_bytes);
            device_in.read("planned_compute_ms", device.planned_compute_ms);
            device_in.read("planned_exchange_ms", device.planned_exchange_ms);
            device_in.read("planned_memory_bytes", device.planned_memory_bytes);
            device_in.read("host", device.host);
            if (const Json* gpu = device_in.find("gpu")) {
                read_into(Reader(*gpu), device.gpu.emplace());
            }
        }
    }
    if (const Json* links = in.find("links")) {
        for (const Json& item : *links) {
            const Reader link_in(item);
            DevicesEvent::Link& link = event.links.emplace_back();
            link_in.read("axes", link.axes);
            link_in.read("between_hosts", link.between_hosts);
            link_in.read("exchange_ms", link.exchange_ms);
            link_in.read("waited_ms", link.waited_ms);
            link_in.read("sent_bytes", link.sent_bytes);
            link_in.read("planned_ms", link.planned_ms);
        }
    }
    if (const Json* stages = in.find("stages")) {
        for (const Json& stage : *stages) {
            auto& actions = event.stages.emplace_back();
            for (const Json& action : stage) {
                actions.push_back({action.at(0).get<std::string>(), number_of(action.at(1)),
                                   number_of(action.at(2))});
            }
        }
    }
}

void read_into(const Reader& in, LoaderEvent& event) {
    in.read("step", event.step);
    in.read("rank", event.rank);
    in.read("steps_ms", event.steps_ms);
    in.read("wait_ms", event.wait_ms);
    in.read("workers", event.workers);
    in.read("prefetch", event.prefetch);
    in.read("ready", event.ready);
    in.read("samples", event.samples);
    in.read("read_ms", event.read_ms);
    in.read("decode_ms", event.decode_ms);
    in.read("transform_ms", event.transform_ms);
    in.read("batch_ms", event.batch_ms);
}

void read_into(const Reader& in, ResumedEvent& event) {
    in.read("from", event.from);
    in.read("step", event.step);
}

void read_into(const Reader& in, CommandEvent& event) {
    in.read("id", event.id);
    in.read("by", event.by);
    in.read("command", event.command);
    in.read("accepted", event.accepted);
    in.read("reason", event.reason);
}

void read_into(const Reader& in, RecordingEvent& event) {
    in.read("step", event.step);
    in.read("steps", event.steps);
    in.read("asked", event.asked);
    in.read("path", event.path);
    in.read("cut_short", event.cut_short);
}

void read_into(const Reader& in, RankEvent& event) {
    in.read("rank", event.rank);
    in.read("state", event.state);
    in.read("host", event.host);
    in.read("message", event.message);
}

void read_into(const Reader& in, RestartEvent& event) {
    in.read("attempt", event.attempt);
    in.read("most", event.most);
    in.read("exit_code", event.exit_code);
    in.read("reason", event.reason);
}

void read_into(const Reader& in, DivergenceEvent& event) {
    in.read("step", event.step);
    in.read("message", event.message);
    in.read("path", event.path);
    in.read("back_to", event.back_to);
    in.read("passes_over", event.passes_over);
}

void read_into(const Reader& in, SettingsEvent& event) {
    in.read("step", event.step);
    in.read("by", event.by);
    in.read("path", event.path);
    in.read("replayed", event.replayed);
    if (const Json* value = in.find("value")) {
        event.value = *value;
    }
}

void read_into(const Reader& in, NoteEvent& event) {
    in.read("message", event.message);
}

void read_into(const Reader& in, WarningEvent& event) {
    in.read("message", event.message);
    in.read("hint", event.hint);
}

void read_into(const Reader& in, ErrorEvent& event) {
    in.read("kind", event.kind);
    in.read("where", event.where);
    in.read("message", event.message);
    in.read("hint", event.hint);
    if (const Json* ways = in.find("ways_on")) {
        for (const Json& item : *ways) {
            const Reader way_in(item);
            WayOn way;
            way_in.read("label", way.label);
            way_in.read("from_step", way.from_step);
            way_in.read("overrides", way.overrides);
            event.ways_on.push_back(std::move(way));
        }
    }
}

void read_into(const Reader& in, FinishedEvent& event) {
    in.read("steps", event.steps);
    in.read("seconds", event.seconds);
    in.read("best", event.best);
    in.read("last", event.last);
    in.read("test", event.test);
}

void read_into(const Reader& in, SkippedEvent& event) {
    in.read("step", event.step);
    in.read("reason", event.reason);
    in.read("loss_scale", event.loss_scale);
    in.read("skipped", event.skipped);
}

template <typename T>
Payload read_payload(const Reader& in) {
    T event;
    read_into(in, event);
    return event;
}

// The alternative of Payload whose event_name is `name`.
template <std::size_t... I>
std::optional<Payload> read_named(std::string_view name, const Reader& in,
                                  std::index_sequence<I...>) {
    std::optional<Payload> out;
    const auto attempt = [&]<typename T>(T*) {
        if (!out && event_name(Payload(T{})) == name) {
            out = read_payload<T>(in);
        }
    };
    (attempt(static_cast<std::variant_alternative_t<I, Payload>*>(nullptr)), ...);
    return out;
}

} // namespace

std::optional<Event> parse_event(std::string_view line) {
    if (auto step = parse_step_line(line)) {
        return step;
    }
    const Json json = config::json_or_discarded(line);
    if (!json.is_object()) {
        return std::nullopt;
    }
    try {
        const Reader in(json);
        std::string name;
        Event event;
        in.read("event", name);
        in.read("seq", event.seq);
        in.read("time", event.time);
        auto payload =
            read_named(name, in, std::make_index_sequence<std::variant_size_v<Payload>>());
        if (!payload) {
            return std::nullopt;
        }
        event.payload = std::move(*payload);
        return event;
    } catch (const std::exception&) {
        return std::nullopt;
    }
}

} // namespace weft::train
