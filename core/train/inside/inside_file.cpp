// SPDX-License-Identifier: Apache-2.0
#include "core/train/inside/inside_file.h"

#include <algorithm>
#include <sstream>
#include <utility>

namespace weft::train {
namespace {

using config::Json;

constexpr int kSchemaVersion = 1;

std::string cbor(const Json& item) {
    std::string out;
    Json::to_cbor(item, out);
    return out;
}

Json shape_json(const ir::Shape& shape) {
    return std::vector<std::int64_t>(shape.begin(), shape.end());
}

ir::Shape read_shape(const Json& json) {
    ir::Shape out;
    for (const Json& extent : json) {
        out.push_back(extent.get<std::int64_t>());
    }
    return out;
}

Json head_of(const Watched& watched) {
    Json parameters = Json::array();
    for (const WatchedParameter& one : watched.parameters) {
        parameters.push_back({{"name", one.slot->name},
                              {"layer", one.layer},
                              {"shape", shape_json(one.slot->whole.shape)}});
    }
    Json activations = Json::array();
    for (const WatchedActivation& one : watched.activations) {
        activations.push_back({{"layer", one.layer},
                               {"kind", one.kind},
                               {"shape", shape_json(one.whole.shape)},
                               {"units", one.units}});
    }
    return {{"schema_version", kSchemaVersion},
            {"parameters", std::move(parameters)},
            {"activations", std::move(activations)}};
}

Json written(const Spread& spread) {
    const auto used = [](std::int64_t count) { return count > 0; };
    const auto first = std::find_if(spread.bins.begin(), spread.bins.end(), used);
    const auto last = std::find_if(spread.bins.rbegin(), spread.bins.rend(), used).base();
    Json bins = Json::array();
    for (auto bin = first; bin < last; ++bin) {
        bins.push_back(*bin);
    }
    return {spread.count,   spread.zeros,       spread.not_finite,
            spread.mean(),  spread.deviation(), spread.low,
            spread.high,    spread.norm(),      first - spread.bins.begin(),
            std::move(bins)};
}

Json look_item(const InsideLook& look) {
    Json parameters = Json::array();
    for (const ParameterLook& one : look.parameters) {
        parameters.push_back({written(one.weights), written(one.gradients), written(one.updates),
                              one.update_norm, one.update_ratio});
    }
    Json activations = Json::array();
    for (const ActivationLook& one : look.activations) {
        activations.push_back({written(one.spread), one.dead});
    }
    return {{"step", look.step},
            {"samples", look.samples},
            {"parameters", std::move(parameters)},
            {"activations", std::move(activations)}};
}

WrittenSpread spread_of(const Json& json) {
    WrittenSpread out;
    out.count = json.at(0).get<std::int64_t>();
    out.zeros = json.at(1).get<std::int64_t>();
    out.not_finite = json.at(2).get<std::int64_t>();
    out.mean = json.at(3).get<double>();
    out.deviation = json.at(4).get<double>();
    out.low = json.at(5).get<double>();
    out.high = json.at(6).get<double>();
    out.norm = json.at(7).get<double>();
    out.first_bin = json.at(8).get<int>();
    out.bins = json.at(9).get<std::vector<std::int64_t>>();
    if (out.first_bin < 0 || out.first_bin + std::ssize(out.bins) > kSpreadBins) {
        throw Error(ErrorKind::data, inside_path().string(),
                    "it counts in bins that there are none of", "No run wrote this.");
    }
    return out;
}

/// Where a series is; one that was not there before has empty points.
template <typename Series, typename Same>
std::size_t series_place(std::vector<Series>& all, std::size_t points, const Same& same,
                         Series made) {
    const auto found = std::find_if(all.begin(), all.end(), same);
    if (found != all.end()) {
        return static_cast<std::size_t>(found - all.begin());
    }
    made.points.resize(points);
    all.push_back(std::move(made));
    return all.size() - 1;
}

} // namespace

std::filesystem::path inside_path() {
    return std::filesystem::path("inside") / "layers.cbor";
}

InsideWriter::InsideWriter(std::filesystem::path run_folder, const Watched& watched)
    : folder_(std::move(run_folder)), head_(cbor(head_of(watched))) {}

// What a killed process left of an item goes first: nothing behind it could be read.
void InsideWriter::add(const InsideLook& look) {
    const std::filesystem::path path = folder_ / inside_path();
    make_directories(path.parent_path());
    if (!head_.empty() && std::filesystem::exists(path)) {
        InsideReader reader(folder_);
        reader.read_on();
        File(path, File::Mode::read_write).resize(reader.offset());
    }
    File(path, File::Mode::append).write(std::exchange(head_, {}) + cbor(look_item(look)));
}

InsideReader::InsideReader(const std::filesystem::path& run_folder)
    : path_(run_folder / inside_path()) {}

bool InsideReader::read_on() {
    std::error_code problem;
    if (!std::filesystem::exists(path_, problem)) {
        return false;
    }
    const File file(path_, File::Mode::read, ErrorKind::data);
    const std::int64_t end = file.size();
    if (end <= offset_) {
        return false;
    }
    std::istringstream stream(read_range(file, offset_, end));
    const std::int64_t from = offset_;
    try {
        for (;;) {
            const Json item = Json::from_cbor(stream, false, false);
            if (item.is_discarded() || stream.eof()) {
                break; // there is no more, or what is being written is not whole yet
            }
            item.contains("schema_version") ? take_head(item) : take_item(item);
            offset_ = from + static_cast<std::int64_t>(stream.tellg());
        }
    } catch (const Json::exception& fault) {
        throw Error(ErrorKind::data, path_.string(), fault.what(), "No run wrote this.");
    }
    return offset_ > from;
}

void InsideReader::take_head(const Json& head) {
    if (head.at("schema_version") != kSchemaVersion) {
        throw Error(ErrorKind::data, path_.string(), "a newer program wrote this",
                    "Read it with that one.");
    }
    const std::size_t points = history_.steps.size();
    parameters_.clear();
    for (const Json& one : head.at("parameters")) {
        const auto name = one.at("name").get<std::string>();
        parameters_.push_back(series_place(
            history_.parameters, points, [&](const auto& known) { return known.name == name; },
            ParameterHistory{
                name, one.at("layer").get<std::string>(), read_shape(one.at("shape")), {}}));
    }
    activations_.clear();
    for (const Json& one : head.at("activations")) {
        const auto layer = one.at("layer").get<std::string>();
        activations_.push_back(series_place(
            history_.activations, points, [&](const auto& known) { return known.layer == layer; },
            ActivationHistory{layer,
                              one.at("kind").get<std::string>(),
                              read_shape(one.at("shape")),
                              one.at("units").get<std::int64_t>(),
                              {}}));
    }
}

void InsideReader::take_item(const Json& item) {
    const auto step = item.at("step").get<std::int64_t>();
    const auto kept = static_cast<std::size_t>(
        std::lower_bound(history_.steps.begin(), history_.steps.end(), step) -
        history_.steps.begin());
    history_.steps.resize(kept);
    history_.samples.resize(kept);
    history_.steps.push_back(step);
    history_.samples.push_back(item.at("samples").get<std::int64_t>());
    for (ParameterHistory& one : history_.parameters) {
        one.points.resize(kept);
        one.points.resize(kept + 1);
    }
    for (ActivationHistory& one : history_.activations) {
        one.points.resize(kept);
        one.points.resize(kept + 1);
    }
    const Json& parameters = item.at("parameters");
    for (std::size_t i = 0; i < parameters_.size(); ++i) {
        const Json& one = parameters.at(i);
        history_.parameters[parameters_[i]].points.back() = {
            spread_of(one.at(0)), spread_of(one.at(1)), spread_of(one.at(2)),
            one.at(3).get<double>(), one.at(4).get<double>()};
    }
    const Json& activations = item.at("activations");
    for (std::size_t i = 0; i < activations_.size(); ++i) {
        const Json& one = activations.at(i);
        history_.activations[activations_[i]].points.back() = {spread_of(one.at(0)),
                                                               one.at(1).get<std::int64_t>()};
    }
}

} // namespace weft::train
