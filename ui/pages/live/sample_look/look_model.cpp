// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/sample_look/look_model.h"

#include "ui/bridge/convert.h"

#include <array>

namespace weft::ui {

LookModel::LookModel(QObject* parent) : TableModel(parent) {
    describe({{.title = tr("Layer"),
               .text = [](const LookRow& row) { return row.name; },
               .font = widgets::TextStyle::Mono},
              {.title = tr("Shows"),
               .text = [](const LookRow& row) { return row.what; },
               .color = widgets::Role::Muted},
              {.title = tr("Shape"),
               .text = [](const LookRow& row) { return row.shape; },
               .font = widgets::TextStyle::MonoSmall,
               .color = widgets::Role::Muted}},
             [](const LookRow& row) { return row.name + "\n" + row.what + ", " + row.shape; });
}

void LookModel::setLook(const train::SampleLook& look) {
    std::vector<LookRow> rows;
    for (std::size_t i = 0; i < look.layers.size(); ++i) {
        const train::LayerLook& layer = look.layers[i];
        // Weights come before what is made by them.
        for (std::size_t k = 0; k < look.attention.size(); ++k) {
            const train::AttentionLook& one = look.attention[k];
            if (one.layer == layer.layer) {
                rows.push_back(
                    {toQString(one.layer), tr("%n head(s)", nullptr, static_cast<int>(one.heads)),
                     extentsText(std::array{one.queries, one.keys}), static_cast<int>(k), -1});
            }
        }
        rows.push_back({toQString(layer.layer), toQString(layer.kind), extentsText(layer.shape), -1,
                        static_cast<int>(i)});
    }
    replaceRows(std::move(rows), false);
}

QString extentsText(std::span<const std::int64_t> extents) {
    QStringList out;
    for (const std::int64_t extent : extents) {
        out << QString::number(extent);
    }
    return out.join(QString::fromUtf8(" × "));
}

} // namespace weft::ui
