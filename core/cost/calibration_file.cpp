// SPDX-License-Identifier: Apache-2.0
// {"schema_version": 1, "machines": [{"cpu", "threads", "kernels", "ceilings": {...} | null,
//  "classes": {name: [factor, spread, samples]}}]}
#include "core/base/file.h"
#include "core/config/field.h"
#include "core/cost/calibration.h"

#include <cmath>

namespace weft::cost {
namespace {

using config::Json;
namespace fs = std::filesystem;

constexpr std::int64_t kMostBytes = 16 << 20;

/// What is wrong with the content; the reader adds file and hint.
struct Damage {
    std::string text;
};

double number(const Json& object, const char* key, double low) {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number() || !std::isfinite(found->get<double>()) ||
        found->get<double>() < low) {
        throw Damage{"'" + std::string(key) + "' is missing or out of range"};
    }
    return found->get<double>();
}

const Json& member(const Json& object, const char* key, Json::value_t type) {
    if (!object.is_object() || !object.contains(key) || object.at(key).type() != type) {
        throw Damage{"'" + std::string(key) + "' is missing or of the wrong type"};
    }
    return object.at(key);
}

std::string text(const Json& object, const char* key) {
    return member(object, key, Json::value_t::string).get<std::string>();
}

Json to_json(const Ceilings& ceilings) {
    const Limits& limits = ceilings.limits;
    return {{"bf16_flops", limits.bf16_flops}, {"f32_flops", limits.f32_flops},
            {"bandwidth", limits.bandwidth},   {"overhead_s", limits.overhead_s},
            {"bf16_unit", ceilings.bf16_unit}, {"measured_time", ceilings.measured_time},
            {"spread", ceilings.spread}};
}

Json to_json(const Calibration& calibration) {
    Json classes = Json::object();
    for (const auto& [name, correction] : calibration.classes) {
        classes[name] = Json::array({correction.factor, correction.spread, correction.samples});
    }
    return {{"cpu", calibration.machine.cpu},
            {"threads", calibration.machine.threads},
            {"kernels", calibration.machine.kernels},
            {"ceilings", calibration.ceilings ? to_json(*calibration.ceilings) : Json(nullptr)},
            {"classes", std::move(classes)}};
}

Ceilings read_ceilings(const Json& json) {
    constexpr double kSlowest = 1; // a rate of less than one per second is no rate
    Ceilings out;
    out.limits.bf16_flops = number(json, "bf16_flops", kSlowest);
    out.limits.f32_flops = number(json, "f32_flops", kSlowest);
    out.limits.bandwidth = number(json, "bandwidth", kSlowest);
    out.limits.overhead_s = number(json, "overhead_s", 0);
    out.bf16_unit = text(json, "bf16_unit");
    out.measured_time = number(json, "measured_time", 0);
    out.spread = number(json, "spread", 0);
    return out;
}

Correction read_correction(const Json& json) {
    if (!json.is_array() || json.size() != 3 || !json[0].is_number() || !json[1].is_number() ||
        !json[2].is_number_integer()) {
        throw Damage{"a class is no list of factor, spread and samples"};
    }
    const Correction out{json[0].get<double>(), json[1].get<double>(), json[2].get<std::int64_t>()};
    const bool good = out.factor > 0 && std::isfinite(out.factor) && out.spread >= 0 &&
                      std::isfinite(out.spread) && out.samples > 0;
    return good ? out : throw Damage{"a class has numbers out of range"};
}

MachineKey read_key(const Json& json) {
    const double threads = number(json, "threads", 1);
    return {text(json, "cpu"), static_cast<int>(std::min(threads, 1e6)), text(json, "kernels")};
}

Calibration read_entry(const Json& json) {
    Calibration out;
    out.machine = read_key(json);
    if (!json.contains("ceilings")) {
        throw Damage{"'ceilings' is missing"};
    }
    if (!json.at("ceilings").is_null()) {
        out.ceilings = read_ceilings(member(json, "ceilings", Json::value_t::object));
    }
    for (const auto& [name, value] : member(json, "classes", Json::value_t::object).items()) {
        out.classes[name] = read_correction(value);
    }
    return out;
}

std::vector<Calibration> read_all(const fs::path& file) {
    std::vector<Calibration> out;
    try {
        const std::string content = read_file(file, kMostBytes, ErrorKind::data);
        const config::Checked parsed = config::parse_json(content, file.string());
        if (config::has_errors(parsed.diagnostics)) {
            throw Damage{parsed.diagnostics.front().message};
        }
        if (number(parsed.value, "schema_version", 1) > 1) {
            throw Damage{"it was written by a newer version of weft"};
        }
        for (const Json& entry : member(parsed.value, "machines", Json::value_t::array)) {
            out.push_back(read_entry(entry));
        }
    } catch (const Damage& damage) {
        throw Error(ErrorKind::data, file.string(), "the calibration is damaged: " + damage.text,
                    "run `weft bench machine` to measure again");
    }
    return out;
}

} // namespace

Calibration read_calibration(const fs::path& file, const MachineKey& machine) {
    std::error_code problem;
    if (fs::exists(file, problem)) {
        for (Calibration& entry : read_all(file)) {
            if (entry.machine == machine) {
                return std::move(entry);
            }
        }
    }
    return {machine, {}, {}};
}

void write_calibration(const fs::path& file, const Calibration& calibration) {
    Json machines = Json::array({to_json(calibration)});
    std::error_code problem;
    if (fs::exists(file, problem)) {
        try {
            for (const Calibration& other : read_all(file)) {
                if (other.machine != calibration.machine) {
                    machines.push_back(to_json(other));
                }
            }
        } catch (const Error&) {
            // Nothing of a damaged file can be kept.
        }
    }
    const Json document{{"schema_version", 1}, {"machines", std::move(machines)}};
    make_directories(file.parent_path());
    write_file_atomically(file, document.dump(1) + "\n");
}

} // namespace weft::cost
