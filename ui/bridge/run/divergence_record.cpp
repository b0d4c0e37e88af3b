// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/run/divergence_record.h"

#include "core/base/error.h"
#include "core/train/rewind/divergence_file.h"
#include "ui/bridge/convert.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace weft::ui {
namespace {

using config::Json;

constexpr std::size_t kShownValues = 6;

QString textUnder(const Json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? toQString(found->get<std::string>())
                                                       : QString();
}

double finiteOrNan(const Json& value) {
    return value.is_number() ? value.get<double>() : std::numeric_limits<double>::quiet_NaN();
}

QString placeWords(const Json& place) {
    return place.is_object() ? textUnder(place, "text") : QString();
}

SeenArray seenArray(const Json& operand) {
    SeenArray out;
    out.name = textUnder(operand, "name");
    out.type = textUnder(operand, "type");
    out.infinite = operand.at("infinite").get<qint64>();
    out.nan = operand.at("nan").get<qint64>();
    out.has_range = operand.at("low").is_number() && operand.at("high").is_number();
    out.low = finiteOrNan(operand.at("low"));
    out.high = finiteOrNan(operand.at("high"));
    out.highest_at = placeWords(operand.at("highest_at"));
    out.first_bad_at = placeWords(operand.at("first_bad_at"));
    out.counts = operand.at("histogram").get<std::vector<qint64>>();
    return out;
}

QString valueWords(const Json& value) {
    return value.is_number() ? formatMetric(value.get<double>())
                             : toQString(value.get<std::string>());
}

/// "age 0.5, income 1.2, target 3e+30"
QString numbersOf(const Json& sample, const Json& names) {
    QStringList out;
    const Json& values = sample.at("values");
    for (std::size_t i = 0; i < std::min(values.size(), kShownValues); ++i) {
        const QString name =
            i < names.size() ? toQString(names[i].get<std::string>()) + " " : QString();
        out << name + valueWords(values[i]);
    }
    if (values.size() > kShownValues) {
        out << "…";
    }
    if (const auto target = sample.find("target"); target != sample.end() && !target->empty()) {
        out << "target " + valueWords(target->front());
    }
    return out.join(", ");
}

/// Without the folders of its file.
QString shortPlace(QString place) {
    const qsizetype end = place.indexOf(", ");
    const qsizetype slash = place.left(end < 0 ? place.size() : end).lastIndexOf('/');
    return place.mid(slash + 1);
}

void readBatch(const Json& document, const std::filesystem::path& folder, DivergenceRecord& out) {
    const Json& batch = document.at("batch");
    if (!batch.is_object()) {
        return;
    }
    out.epoch = batch.at("epoch").get<qint64>();
    out.first = batch.at("first").get<qint64>();
    out.count = batch.at("samples").get<qint64>();
    QImage sheet;
    int width = 0;
    int height = 0;
    if (const QString name = textUnder(document, "sheet"); !name.isEmpty()) {
        sheet = QImage(pathText(folder / toPath(name)), "PNG");
        height = batch.at("cell").at(0).get<int>();
        width = batch.at("cell").at(1).get<int>();
    }
    int column = 0;
    for (const Json& sample : batch.at("shown")) {
        BatchSample one;
        one.index = sample.at("index").get<qint64>();
        one.place = shortPlace(textUnder(sample, "place"));
        one.name = textUnder(sample, "name");
        one.suspect = sample.at("suspect").get<bool>();
        one.text = sample.contains("values") ? numbersOf(sample, batch.at("input_names"))
                                             : textUnder(sample, "text").simplified();
        if (!sheet.isNull()) {
            one.picture = sheet.copy(column * width, 0, width, height);
        }
        ++column;
        out.samples.push_back(std::move(one));
    }
}

void readNorms(const Json& norms, DivergenceRecord& out) {
    out.norm_steps = norms.at("steps").get<std::vector<std::int64_t>>();
    out.norms_of_parts = norms.value("parts", false);
    for (const Json& layer : norms.at("layers")) {
        LayerNormRow row;
        row.name = textUnder(layer, "name");
        for (const Json& norm : layer.at("norms")) {
            row.norms.push_back(finiteOrNan(norm));
            row.bad.push_back(norm.is_string());
        }
        out.norms.push_back(std::move(row));
    }
}

} // namespace

DivergenceRecord readDivergenceRecord(const std::filesystem::path& run, std::int64_t step) {
    DivergenceRecord out;
    try {
        const Json document = train::read_divergence(run, step);
        out.message = textUnder(document, "message");
        out.where = textUnder(document, "where");
        out.hint = textUnder(document, "hint");
        if (const Json& op = document.at("op"); op.is_object()) {
            out.op = textUnder(op, "kind");
            QStringList group;
            for (const Json& kind : op.at("group")) {
                group << toQString(kind.get<std::string>());
            }
            out.group = group.join(", ");
            out.layer = textUnder(op, "layer");
            out.phase = textUnder(op, "phase");
            out.output = seenArray(document.at("output"));
        }
        for (const Json& operand : document.at("inputs")) {
            out.inputs.push_back(seenArray(operand));
        }
        readBatch(document, (run / train::divergence_path(step)).parent_path(), out);
        readNorms(document.at("norms"), out);
        for (const Json& way : document.at("ways_on")) {
            out.ways.push_back({way.at("label").get<std::string>(),
                                way.at("from_step").get<std::int64_t>(),
                                way.at("overrides").get<std::vector<std::string>>()});
        }
        out.back_to =
            document.at("back_to").is_number() ? document["back_to"].get<std::int64_t>() : -1;
        out.passes_over = document.at("passes_over").is_number()
                              ? document["passes_over"].get<std::int64_t>()
                              : 0;
        out.step = step;
    } catch (const Error&) {
        return {}; // gone, or of another program
    } catch (const Json::exception&) {
        return {};
    }
    return out;
}

} // namespace weft::ui
