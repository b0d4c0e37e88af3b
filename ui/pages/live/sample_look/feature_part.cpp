// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/sample_look/feature_part.h"

#include "ui/bridge/convert.h"
#include "ui/pages/live/sample_look/place_names.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/maps/channel_view.h"
#include "widgets/maps/matrix_view.h"
#include "widgets/maps/value_bars.h"
#include "widgets/maps/value_colour.h"

#include <QScrollArea>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>

namespace weft::ui {
namespace {

QString layerFigures(const std::vector<float>& values) {
    double sum = 0;
    double low = INFINITY;
    double high = -INFINITY;
    std::size_t zeros = 0;
    for (const float value : values) {
        sum += double(value);
        low = std::min(low, double(value));
        high = std::max(high, double(value));
        zeros += value == 0 ? 1 : 0;
    }
    const auto count = static_cast<double>(std::max<std::size_t>(1, values.size()));
    QString out = FeaturePart::tr("from %1 to %2, mean %3")
                      .arg(widgets::formatNumber(low), widgets::formatNumber(high),
                           widgets::formatNumber(sum / count));
    if (zeros > 0) {
        out += FeaturePart::tr(", %1 % zeros")
                   .arg(widgets::formatNumber(100.0 * static_cast<double>(zeros) / count));
    }
    if (low < 0) {
        out += FeaturePart::tr("; what is below 0 is orange");
    }
    return out;
}

} // namespace

FeaturePart::FeaturePart(QWidget* parent) : QWidget(parent) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* line = new QHBoxLayout;
    line->setSpacing(widgets::space::kControl);
    about_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted);
    about_->setObjectName("lookFigures");
    about_->setWordWrap(true);
    line->addWidget(about_, 1);
    scale_ = new widgets::SegmentedControl;
    scale_->addSegment(tr("Each"), tr("Each channel has a scale of colours of its own"));
    scale_->addSegment(tr("Together"), tr("One scale of colours for all channels"));
    scale_->setObjectName("lookScale");
    scale_->setAccessibleName(tr("Scale of colours"));
    scale_->setCompact(true);
    line->addWidget(scale_, 0, Qt::AlignTop);
    column->addLayout(line);
    sheets_ = new QStackedWidget;
    channels_ = new widgets::ChannelView;
    channels_->setObjectName("lookChannels");
    channels_->setAccessibleName(tr("Channels"));
    sheets_->addWidget(widgets::verticalScroll(channels_));
    positions_ = new widgets::MatrixView;
    positions_->setObjectName("lookPositions");
    positions_->setAccessibleName(tr("Positions by channels"));
    sheets_->addWidget(positions_);
    units_ = new widgets::ValueBars;
    units_->setObjectName("lookUnits");
    units_->setAccessibleName(tr("Units"));
    sheets_->addWidget(units_);
    column->addWidget(sheets_, 1);
    connect(scale_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { channels_->setTogether(index == 1); });
    connect(channels_, &widgets::ChannelView::pointed, this, &FeaturePart::pointed);
    const auto say = [this](const widgets::PaintedView* view) {
        return [this, view](int index) {
            emit pointed(index < 0 ? QString() : view->item(index).name);
        };
    };
    connect(channels_, &widgets::PaintedView::cursorChanged, this, say(channels_));
    for (widgets::PaintedView* view :
         std::initializer_list<widgets::PaintedView*>{positions_, units_}) {
        connect(view, &widgets::PaintedView::itemHovered, this, say(view));
        connect(view, &widgets::PaintedView::cursorChanged, this, say(view));
    }
}

void FeaturePart::showLayer(const LookedInside& looked, int layer) {
    const train::LayerLook& shown = looked.look.layers[static_cast<std::size_t>(layer)];
    about_->setText(layerFigures(shown.values));
    const ir::Shape& shape = shown.shape;
    scale_->setVisible(shape.rank() == 3);
    if (shape.rank() == 3) {
        channels_->setChannels({static_cast<int>(shape[0]), static_cast<int>(shape[1]),
                                static_cast<int>(shape[2]), shown.values});
        sheets_->setCurrentIndex(ChannelSheet);
    } else if (shape.rank() == 2) {
        widgets::NamedMatrix matrix;
        matrix.rows = static_cast<int>(shape[0]);
        matrix.columns = static_cast<int>(shape[1]);
        matrix.values = shown.values;
        matrix.most = widgets::largestSize(shown.values);
        matrix.row_names = placeNames(looked, shape[0]);
        const bool text = !looked.look.tokens.empty();
        positions_->setMatrix(std::move(matrix), [this, text, names = placeNames(looked, shape[0])](
                                                     int row, int column) {
            const auto& of = positions_->matrix();
            const auto at = static_cast<std::size_t>(row * of.columns + column);
            return tr("%1, channel %2: %3")
                .arg(placeWords(names, text, row), QString::number(column),
                     widgets::formatNumber(double(of.values[at])));
        });
        sheets_->setCurrentIndex(PositionSheet);
    } else {
        units_->setValues(shown.values);
        sheets_->setCurrentIndex(UnitSheet);
    }
}

} // namespace weft::ui
