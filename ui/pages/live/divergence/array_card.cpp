// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/divergence/array_card.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/spread/histogram_view.h"

#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::ElidedLabel;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

QString badWords(const SeenArray& array) {
    QStringList out;
    if (array.nan > 0) {
        out << ArrayCard::tr("%1 NaN").arg(formatCount(array.nan));
    }
    if (array.infinite > 0) {
        out << ArrayCard::tr("%1 infinite").arg(formatCount(array.infinite));
    }
    return array.first_bad_at.isEmpty()
               ? out.join(", ")
               : ArrayCard::tr("%1, the first at %2").arg(out.join(", "), array.first_bad_at);
}

} // namespace

ArrayCard::ArrayCard(const QString& role, const SeenArray& array, QWidget* parent)
    : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kTight);
    auto* line = new QHBoxLayout;
    line->setSpacing(widgets::space::kControl);
    line->addWidget(new TextLabel(role, TextStyle::CaptionStrong, Role::Muted));
    line->addWidget(new ElidedLabel(array.name, TextStyle::Body), 1);
    line->addWidget(new TextLabel(array.type, TextStyle::MonoSmall, Role::Muted));
    column->addLayout(line);
    const bool spread = !array.counts.empty();
    if (spread) {
        auto* picture = new widgets::HistogramView;
        picture->setAccessibleName(tr("Spread of %1").arg(array.name));
        picture->setCounts(array.counts, array.low, array.high);
        column->addWidget(picture);
    }
    const auto say = [&](const QString& text, Role how) {
        auto* label = new TextLabel(text, TextStyle::Caption, how);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(label);
    };
    if (array.has_range && !spread) {
        say(tr("all are %1").arg(formatMetric(array.low)), Role::Muted);
    } else if (spread && !array.highest_at.isEmpty()) {
        say(tr("largest at %1").arg(array.highest_at), Role::Muted);
    }
    if (array.nan + array.infinite > 0) {
        say(badWords(array), Role::Error);
    }
}

} // namespace weft::ui
