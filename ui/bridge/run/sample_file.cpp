// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/sample_file.h"

#include "core/base/file.h"
#include "core/config/field.h"
#include "ui/bridge/convert.h"

#include <algorithm>
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

/// A board row by row.
QString boardRows(const Json& text, int columns) {
    const QString cells = toQString(text.get<std::string>());
    QStringList rows;
    for (qsizetype first = 0; first < cells.size(); first += columns) {
        rows << cells.mid(first, columns);
    }
    return rows.join(' ');
}

/// What was given, what the model made of it in the end, and what is right.
SaidText saidBoard(const Json& sample, const Json& form) {
    const int columns = std::max(1, form.at("columns").get<int>());
    return {sample.at("index").get<std::int64_t>(), boardRows(sample.at("given"), columns),
            boardRows(sample.at("cycles").back(), columns), boardRows(sample.at("answer"), columns),
            false};
}

/// Cut out of the sheet, in the rows that the document names.
std::vector<MadePicture> madePictures(const Json& document, const std::filesystem::path& folder) {
    const QImage sheet(toQString((folder / document.at("sheet").get<std::string>()).string()),
                       "PNG");
    const int height = document.at("cell").at(0).get<int>();
    const int width = document.at("cell").at(1).get<int>();
    const Json& rows = document.at("rows");
    std::vector<MadePicture> out;
    const auto cell = [&](const char* name, std::size_t column) {
        const auto row = std::find(rows.begin(), rows.end(), name);
        const auto line = static_cast<int>(row - rows.begin());
        return row == rows.end() || sheet.isNull()
                   ? QImage()
                   : sheet.copy(static_cast<int>(column) * width, line * height, width, height);
    };
    const Json& samples = document.at("samples");
    for (std::size_t i = 0; i < samples.size() && !sheet.isNull(); ++i) {
        const Json& sample = samples.at(i);
        const QString number = sample.contains("class")
                                   ? QString::number(sample.at("class").get<std::int64_t>())
                                   : QString();
        const QString name = toQString(sample.value("name", std::string()));
        out.push_back({sample.at("index").get<std::int64_t>(), name.isEmpty() ? number : name,
                       cell("data", i), cell("reconstruction", i), cell("made", i)});
    }
    return out;
}

SampleFile readSample(const Json& document, const std::filesystem::path& folder) {
    SampleFile out;
    const std::string kind = document.value("kind", "classification");
    if (kind == "pictures") {
        out.pictures = madePictures(document, folder);
        return out;
    }
    for (const Json& sample : document.at("samples")) {
        if (kind == "text") {
            out.texts.push_back(saidText(sample));
        } else if (kind == "boards") {
            out.texts.push_back(saidBoard(sample, document.at("board")));
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
        return readSample(config::parse_json(read_file(path), path.string()).value,
                          path.parent_path());
    } catch (const std::exception&) {
        return {}; // the panel says so
    }
}

} // namespace weft::ui
