// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/sample_file.h"

#include "core/base/file.h"
#include "core/config/field.h"
#include "ui/bridge/convert.h"

#include <limits>

namespace weft::ui {
namespace {

using config::Json;

SaidClass class_of(const Json& sample) {
    const Json& first = sample.at("top").at(0);
    return {sample.at("index").get<std::int64_t>(), sample.at("label").get<int>(),
            first.at("class").get<int>(), first.at("probability").get<double>()};
}

double jsonNumber(const Json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

void add_numbers(const Json& sample, const Json& names, std::vector<SaidNumber>& out) {
    const Json& targets = sample.at("target");
    const Json& predictions = sample.at("prediction");
    for (std::size_t i = 0; i < targets.size(); ++i) {
        const QString name =
            i < names.size() ? toQString(names.at(i).get<std::string>()) : QString();
        out.push_back({sample.at("index").get<std::int64_t>(), name, jsonNumber(targets.at(i)),
                       jsonNumber(predictions.at(i))});
    }
}

SaidText saidText(const Json& sample) {
    const auto words = [&](const char* key) {
        return toQString(sample.at(key).get<std::string>());
    };
    return {sample.at("index").get<std::int64_t>(), words("prompt"), words("text"), words("truth"),
            sample.at("cut").get<bool>()};
}

SampleFile readSample(const Json& document) {
    SampleFile out;
    const std::string kind = document.value("kind", "classification");
    for (const Json& sample : document.at("samples")) {
        if (kind == "text") {
            out.texts.push_back(saidText(sample));
        } else if (kind == "regression") {
            add_numbers(sample, document.value("target_names", Json::array()), out.numbers);
        } else {
            out.classes.push_back(class_of(sample));
        }
    }
    return out;
}

} // namespace

SampleFile readSampleFile(const std::filesystem::path& path) {
    try {
        return readSample(config::parse_json(read_file(path), path.string()).value);
    } catch (const std::exception&) {
        return {}; // the panel says so
    }
}

} // namespace weft::ui
