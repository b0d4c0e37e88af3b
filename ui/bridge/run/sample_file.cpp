// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/sample_file.h"

#include "core/base/error.h"
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

BoardLook boardLook(const Json& form) {
    BoardLook out{.rows = form.at("rows").get<int>(),
                  .columns = form.at("columns").get<int>(),
                  .symbols = toQString(form.at("symbols").get<std::string>())};
    if (!form.at("box").is_null()) {
        out.box_rows = form.at("box").at(0).get<int>();
        out.box_columns = form.at("box").at(1).get<int>();
    }
    const int blank = form.at("blank").get<int>();
    if (out.rows <= 0 || out.columns <= 0 || blank < 0 || blank >= out.symbols.size()) {
        throw Error(ErrorKind::data, "board", "no board is like that");
    }
    out.blank = out.symbols.at(blank);
    return out;
}

SaidBoard saidBoard(const Json& sample, const BoardLook& look) {
    const auto board = [&](const Json& text) {
        QString out = toQString(text.get<std::string>());
        if (out.size() != look.cells()) {
            throw Error(ErrorKind::data, "board", "it has not all its cells");
        }
        return out;
    };
    SaidBoard out{.index = sample.at("index").get<std::int64_t>(),
                  .given = board(sample.at("given")),
                  .answer = board(sample.at("answer")),
                  .halts = sample.at("halts").get<bool>(),
                  .after = sample.at("after").get<int>()};
    for (const Json& cycle : sample.at("cycles")) {
        out.cycles.push_back(board(cycle));
    }
    if (out.cycles.empty()) {
        throw Error(ErrorKind::data, "board", "nothing was said of it");
    }
    return out;
}

SaidBoards saidBoards(const Json& document) {
    const auto counts = [&](const char* name) {
        return document.at(name).get<std::vector<qint64>>();
    };
    SaidBoards out{.step = document.at("step").get<std::int64_t>(),
                   .look = boardLook(document.at("board")),
                   .steps = document.at("steps").get<int>(),
                   .cycles = document.at("cycles").get<int>(),
                   .counted = document.at("boards").get<std::int64_t>(),
                   .right = counts("right"),
                   .halted_right = counts("halted_right"),
                   .halted_wrong = counts("halted_wrong")};
    for (const Json& sample : document.at("samples")) {
        out.boards.push_back(saidBoard(sample, out.look));
    }
    const auto steps = static_cast<std::size_t>(std::max(0, out.steps));
    if (out.cycles <= 0 || steps == 0 || out.right.size() != steps ||
        out.halted_right.size() != steps || out.halted_wrong.size() != steps) {
        throw Error(ErrorKind::data, "boards", "they have not a number for each step");
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
    if (kind == "boards") {
        out.boards = saidBoards(document);
        return out;
    }
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
        return readSample(config::parse_json(read_file(path), path.string()).value,
                          path.parent_path());
    } catch (const std::exception&) {
        return {}; // the panel says so
    }
}

} // namespace weft::ui
