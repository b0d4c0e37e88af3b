// SPDX-License-Identifier: Apache-2.0
#include "core/exec/ranks/device_words.h"

#include "core/base/check.h"
#include "core/exec/ranks/type_words.h"

#include <cmath>
#include <cstring>
#include <limits>

namespace weft::exec {
namespace {

using config::Json;

/// JSON has no numbers that are not finite.
Json json_of(double value) {
    return std::isfinite(value) ? Json(value) : Json(std::isnan(value) ? "nan" : "inf");
}

double number_of(const Json& value) {
    return value.is_number() ? value.get<double>()
           : value == "nan"  ? std::numeric_limits<double>::quiet_NaN()
                             : std::numeric_limits<double>::infinity();
}

Json json_of(const SeenOperand& seen) {
    const ValueRange& range = seen.range;
    return {{"type", to_json(seen.type)},
            {"finite", range.finite},
            {"infinite", range.infinite},
            {"nan", range.nan},
            {"low", range.low},
            {"high", range.high},
            {"first_bad", range.first_bad},
            {"lowest_at", range.lowest_at},
            {"highest_at", range.highest_at},
            {"histogram", seen.histogram},
            {"name", seen.name}};
}

SeenOperand seen_of(const Json& document) {
    SeenOperand out;
    out.type = type_of(document.at("type"));
    out.range.finite = document.at("finite").get<std::int64_t>();
    out.range.infinite = document.at("infinite").get<std::int64_t>();
    out.range.nan = document.at("nan").get<std::int64_t>();
    out.range.low = document.at("low").get<double>();
    out.range.high = document.at("high").get<double>();
    out.range.first_bad = document.at("first_bad").get<std::int64_t>();
    out.range.lowest_at = document.at("lowest_at").get<std::int64_t>();
    out.range.highest_at = document.at("highest_at").get<std::int64_t>();
    out.histogram = document.at("histogram").get<std::vector<std::int64_t>>();
    out.name = document.at("name").get<std::string>();
    return out;
}

} // namespace

Json to_json(const DeviceUse& use) {
    Json actions = Json::array();
    for (const ActionUse& action : use.actions) {
        actions.push_back({action.action, action.start_s, action.end_s});
    }
    Json links = Json::array();
    for (const LinkUse& link : use.links) {
        links.push_back({link.axes, link.exchange_s, link.waited_s, link.sent_bytes, link.moved_s});
    }
    return {{"start_s", use.start_s},
            {"end_s", use.end_s},
            {"links", std::move(links)},
            {"actions", std::move(actions)}};
}

DeviceUse use_of(const Json& document, double lead_s, std::vector<std::string>& names) {
    DeviceUse out;
    out.start_s = document.at("start_s").get<double>() - lead_s;
    out.end_s = document.at("end_s").get<double>() - lead_s;
    for (const Json& link : document.at("links")) {
        out.links.push_back({link.at(0).get<std::string>(), link.at(1).get<double>(),
                             link.at(2).get<double>(), link.at(3).get<std::int64_t>(),
                             link.at(4).get<double>()});
    }
    names.clear();
    names.reserve(document.at("actions").size()); // views of them are handed out
    for (const Json& action : document.at("actions")) {
        names.push_back(action.at(0).get<std::string>());
        out.actions.push_back({names.back(), action.at(1).get<double>() - lead_s,
                               action.at(2).get<double>() - lead_s});
    }
    return out;
}

Json to_json(const RunReport& report) {
    Json inputs = Json::array();
    for (const SeenOperand& one : report.inputs) {
        inputs.push_back(json_of(one));
    }
    Json squares = Json::array();
    for (const SeenSquares& one : report.squares) {
        squares.push_back(
            {{"name", one.name}, {"type", to_json(one.type)}, {"sum", json_of(one.sum)}});
    }
    return {{"finite", report.finite},
            {"kind", report.kind},
            {"path", report.path},
            {"phase", static_cast<int>(report.phase)},
            {"iterations", report.iterations},
            {"step", report.step},
            {"group", report.group},
            {"inputs", std::move(inputs)},
            {"output", json_of(report.output)},
            {"squares", std::move(squares)}};
}

std::vector<std::byte> bytes_of(const GroupNames& names) {
    std::vector<std::byte> out;
    for (const auto& [key, name] : names) {
        const auto bytes = std::as_bytes(std::span(name.bytes));
        out.insert(out.end(), bytes.begin(), bytes.end());
    }
    return out;
}

GroupNames names_of(const plan::ExecutionPlan& plan, std::span<const std::byte> bytes) {
    GroupNames out;
    for (const auto& [key, place] : meeting_places(plan)) {
        weft_group_name& name = out[key];
        WEFT_CHECK(bytes.size() >= sizeof name.bytes, "the hub names all groups of the plan");
        std::memcpy(name.bytes, bytes.data(), sizeof name.bytes);
        bytes = bytes.subspan(sizeof name.bytes);
    }
    return out;
}

RunReport report_of(const Json& document) {
    RunReport out;
    out.finite = document.at("finite").get<bool>();
    out.kind = document.at("kind").get<std::string>();
    out.path = document.at("path").get<std::string>();
    out.phase = static_cast<ir::Phase>(document.at("phase").get<int>());
    out.iterations = document.at("iterations").get<std::vector<std::int64_t>>();
    out.step = document.at("step").get<int>();
    out.group = document.at("group").get<std::vector<std::string>>();
    for (const Json& one : document.at("inputs")) {
        out.inputs.push_back(seen_of(one));
    }
    out.output = seen_of(document.at("output"));
    for (const Json& one : document.at("squares")) {
        out.squares.push_back(
            {one.at("name").get<std::string>(), type_of(one.at("type")), number_of(one.at("sum"))});
    }
    return out;
}

} // namespace weft::exec
