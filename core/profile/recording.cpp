// SPDX-License-Identifier: Apache-2.0
#include "core/profile/recording.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/config/json.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <iterator>

namespace weft::profile {
namespace {

using config::Json;
namespace fs = std::filesystem;

constexpr int kVersion = 2;
constexpr const char* kFolder = "profile";
constexpr std::size_t kEventFields = 4;
constexpr double kMostMicroseconds = 1e15; // thirty years

/// Reads with the place of what is wrong at hand.
class RecordingReader {
public:
    explicit RecordingReader(const fs::path& file) : file_(file) {}

    [[noreturn]] void fail(const std::string& what) const {
        throw Error(ErrorKind::data, file_.string(), "is no whole recording: " + what,
                    "Record again: weft train --profile N.");
    }

    const Json& member(const Json& object, const std::string& name) const {
        if (!object.is_object() || !object.contains(name)) {
            fail("'" + name + "' is missing");
        }
        return object.at(name);
    }
    const Json& list(const Json& object, const std::string& name) const {
        const Json& value = member(object, name);
        if (!value.is_array()) {
            fail("'" + name + "' is no list");
        }
        return value;
    }
    std::string text(const Json& object, const std::string& name) const {
        const Json& value = member(object, name);
        if (!value.is_string()) {
            fail("'" + name + "' is no text");
        }
        return value.get<std::string>();
    }
    bool flag(const Json& object, const std::string& name) const {
        const Json& value = member(object, name);
        if (!value.is_boolean()) {
            fail("'" + name + "' is neither true nor false");
        }
        return value.get<bool>();
    }
    double number(const Json& value, const std::string& name) const {
        const double found = value.is_number() ? value.get<double>() : -1;
        if (!std::isfinite(found) || found < 0) {
            fail("'" + name + "' is no number of 0 or more");
        }
        return found;
    }
    double amount(const Json& object, const std::string& name) const {
        return number(member(object, name), name);
    }
    double time(const Json& value, const std::string& name) const {
        const double us = number(value, name);
        if (us > kMostMicroseconds) {
            fail("'" + name + "' is no time");
        }
        return us;
    }
    std::int64_t count(const Json& object, const std::string& name) const {
        const Json& value = member(object, name);
        if (!value.is_number_integer() || value.get<std::int64_t>() < 0) {
            fail("'" + name + "' is no count");
        }
        return value.get<std::int64_t>();
    }

private:
    const fs::path& file_;
};

double rounded(double us) {
    return std::round(us * 1000) / 1000; // nanoseconds
}

Json call_json(const Call& call) {
    return {{"op", call.op},
            {"path", call.path},
            {"kernel", call.kernel},
            {"phase", call.phase},
            {"dtype", call.dtype},
            {"bound", call.bound},
            {"exchange", call.exchange},
            {"elementwise", call.elementwise},
            {"product_flops", call.product_flops},
            {"flops", call.flops},
            {"bytes", call.bytes},
            {"predicted_us", rounded(call.predicted_us)},
            {"best_us", rounded(call.best_us)}};
}

void append_time(double us, std::string& text) {
    char digits[64];
    const auto end =
        std::to_chars(digits, std::end(digits), us, std::chars_format::fixed, 3); // nanoseconds
    text.append(digits, end.ptr);
    text += ',';
}

/// With a comma after it. Millions of events: no tree of values stands between.
void append_device(const DeviceEvents& device, std::string& text) {
    constexpr std::size_t kBytesOfEvent = 40;
    text.reserve(text.size() + device.events.size() * kBytesOfEvent);
    text += "{\"name\":" + Json(device.name).dump() + ",\"events\":[";
    for (const Event& event : device.events) {
        text += std::to_string(event.call) + ",";
        append_time(event.start_us, text);
        append_time(event.duration_us, text);
        append_time(event.waited_us, text);
    }
    if (!device.events.empty()) {
        text.pop_back();
    }
    text += "]},";
}

Call parsed_call(const RecordingReader& reader, const Json& json) {
    Call call{.op = reader.text(json, "op"),
              .path = reader.text(json, "path"),
              .kernel = reader.text(json, "kernel"),
              .phase = reader.text(json, "phase"),
              .dtype = reader.text(json, "dtype"),
              .bound = reader.text(json, "bound")};
    call.exchange = reader.flag(json, "exchange");
    call.elementwise = reader.flag(json, "elementwise");
    call.product_flops = reader.amount(json, "product_flops");
    call.flops = reader.amount(json, "flops");
    call.bytes = reader.amount(json, "bytes");
    call.predicted_us = reader.amount(json, "predicted_us");
    call.best_us = reader.amount(json, "best_us");
    return call;
}

StepTimes parsed_step(const RecordingReader& reader, const Json& json) {
    StepTimes out;
    out.step = reader.count(json, "step");
    out.start_us = reader.time(reader.member(json, "start_us"), "start_us");
    out.batch_us = reader.time(reader.member(json, "batch_us"), "batch_us");
    out.computed_us = reader.time(reader.member(json, "computed_us"), "computed_us");
    out.end_us = reader.time(reader.member(json, "end_us"), "end_us");
    if (out.batch_us < out.start_us || out.computed_us < out.batch_us ||
        out.end_us < out.computed_us) {
        reader.fail("the times of step " + std::to_string(out.step) + " go backwards");
    }
    return out;
}

DeviceEvents parsed_device(const RecordingReader& reader, const Json& json, std::size_t calls) {
    DeviceEvents out{reader.text(json, "name"), {}};
    const Json& flat = reader.list(json, "events");
    if (flat.size() % kEventFields != 0) {
        reader.fail("the events of " + out.name + " end early");
    }
    out.events.reserve(flat.size() / kEventFields);
    for (std::size_t i = 0; i < flat.size(); i += kEventFields) {
        const double call = reader.number(flat[i], "events");
        if (call >= static_cast<double>(calls)) {
            reader.fail("an event of " + out.name + " is of call " +
                        std::to_string(static_cast<long long>(std::min(call, 1e18))) + " of " +
                        std::to_string(calls));
        }
        Event event{static_cast<int>(call), reader.time(flat[i + 1], "events"),
                    reader.time(flat[i + 2], "events"), reader.time(flat[i + 3], "events")};
        if (event.waited_us > event.duration_us + 0.001) {
            reader.fail("an event of " + out.name + " waits longer than it takes");
        }
        out.events.push_back(event);
    }
    return out;
}

} // namespace

fs::path write_recording(const fs::path& run_folder, const Recording& recording) {
    Json json{{"weft_recording", kVersion},
              {"run", recording.run},
              {"recorded_at", recording.recorded_at},
              {"basis", recording.basis},
              {"ceilings",
               {{"bf16_flops", recording.ceilings.bf16_flops},
                {"f32_flops", recording.ceilings.f32_flops},
                {"bandwidth", recording.ceilings.bandwidth}}},
              {"asked_steps", recording.asked_steps},
              {"cut_short", recording.cut_short},
              {"dropped", recording.dropped},
              {"calls", Json::array()},
              {"steps", Json::array()}};
    for (const Call& call : recording.calls) {
        json["calls"].push_back(call_json(call));
    }
    for (const StepTimes& step : recording.steps) {
        json["steps"].push_back({{"step", step.step},
                                 {"start_us", rounded(step.start_us)},
                                 {"batch_us", rounded(step.batch_us)},
                                 {"computed_us", rounded(step.computed_us)},
                                 {"end_us", rounded(step.end_us)}});
    }
    std::string text = json.dump();
    text.back() = ',';
    text += "\"devices\":[";
    for (const DeviceEvents& device : recording.devices) {
        append_device(device, text);
    }
    if (!recording.devices.empty()) {
        text.pop_back();
    }
    text += "]}\n";
    char name[40];
    std::snprintf(
        name, sizeof name, "step-%08lld.json",
        static_cast<long long>(recording.steps.empty() ? 0 : recording.steps.front().step));
    const fs::path file = run_folder / kFolder / name;
    make_directories(file.parent_path());
    write_file_atomically(file, text);
    return file;
}

Recording read_recording(const fs::path& file) {
    const RecordingReader reader(file);
    const Json json =
        config::json_or_discarded(read_file(file, kMostRecordingBytes, ErrorKind::data));
    if (json.is_discarded() || !json.is_object() || !json.contains("weft_recording")) {
        reader.fail("it is not JSON that begins with 'weft_recording'");
    }
    if (const std::int64_t version = reader.count(json, "weft_recording"); version != kVersion) {
        throw Error(ErrorKind::data, file.string(),
                    "is a recording of version " + std::to_string(version) +
                        "; this program reads version " + std::to_string(kVersion),
                    "Use the program that recorded it, or record again.");
    }
    Recording out;
    out.run = reader.text(json, "run");
    out.recorded_at = reader.amount(json, "recorded_at");
    out.basis = reader.text(json, "basis");
    const Json& ceilings = reader.member(json, "ceilings");
    out.ceilings = {reader.amount(ceilings, "bf16_flops"), reader.amount(ceilings, "f32_flops"),
                    reader.amount(ceilings, "bandwidth")};
    out.asked_steps = reader.count(json, "asked_steps");
    out.cut_short = reader.text(json, "cut_short");
    out.dropped = reader.count(json, "dropped");
    for (const Json& call : reader.list(json, "calls")) {
        out.calls.push_back(parsed_call(reader, call));
    }
    for (const Json& step : reader.list(json, "steps")) {
        out.steps.push_back(parsed_step(reader, step));
    }
    for (const Json& device : reader.list(json, "devices")) {
        out.devices.push_back(parsed_device(reader, device, out.calls.size()));
    }
    if (out.steps.empty() || out.devices.empty()) {
        reader.fail("it has no step or no device");
    }
    return out;
}

std::vector<fs::path> list_recordings(const fs::path& run_folder) {
    std::vector<fs::path> out;
    std::error_code absent;
    for (const auto& entry : fs::directory_iterator(run_folder / kFolder, absent)) {
        const std::string name = entry.path().filename().string();
        if (name.starts_with("step-") && name.ends_with(".json")) {
            out.push_back(entry.path());
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

} // namespace weft::profile
