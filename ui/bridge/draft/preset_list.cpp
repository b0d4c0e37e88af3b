// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/preset_list.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/config/field.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>

namespace weft::ui {
namespace {

class PresetWords {
    Q_DECLARE_TR_FUNCTIONS(Presets)
};

/// Null when there is no such file, or it cannot be read.
config::Json readDocument(const std::filesystem::path& path) {
    try {
        return config::parse_json(read_file(path), path.string()).value;
    } catch (const Error&) {
        return nullptr;
    }
}

/// Of an entry of measured/quality.json.
QString qualityText(const config::Json& measured) {
    const QString metric = toQString(measured.value("metric", ""));
    const double value = measured.value("value", 0.0);
    if (metric == QLatin1String("test/accuracy")) {
        return PresetWords::tr("%1 % test accuracy").arg(100 * value, 0, 'f', 1);
    }
    if (metric == QLatin1String("test/exact_accuracy")) {
        return PresetWords::tr("%1 % of the test solved").arg(100 * value, 0, 'f', 1);
    }
    if (metric == QLatin1String("validation/bits_per_byte")) {
        return PresetWords::tr("%1 bits a byte").arg(value, 0, 'f', 2);
    }
    if (metric == QLatin1String("test/loss")) {
        return PresetWords::tr("test loss %1").arg(formatMetric(value));
    }
    return QStringLiteral("%1 %2").arg(metric, formatMetric(value));
}

} // namespace

std::vector<PresetInfo> readPresets(const std::filesystem::path& folder) {
    const config::Json measured = readDocument(folder / "measured" / "quality.json");
    const config::Json figures = measured.is_object()
                                     ? measured.value("presets", config::Json::object())
                                     : config::Json::object();
    std::vector<PresetInfo> presets;
    std::error_code ignored;
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored)) {
        const config::Json document =
            entry.path().extension() == ".json" ? readDocument(entry.path()) : nullptr;
        if (document.is_object()) {
            const std::string name = entry.path().stem().string();
            presets.push_back({entry.path(), toQString(document.value("name", name)),
                               toQString(document.value("notes", std::string())),
                               figures.contains(name) ? qualityText(figures.at(name)) : QString()});
        }
    }
    std::sort(presets.begin(), presets.end(),
              [](const PresetInfo& a, const PresetInfo& b) { return a.path < b.path; });
    return presets;
}

} // namespace weft::ui
