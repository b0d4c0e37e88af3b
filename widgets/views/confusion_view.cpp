// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/views/confusion_view.h"

#include <algorithm>
#include <cmath>

namespace weft::widgets {
namespace {

constexpr double kMostNames = 96.0;     // width of the names at text size 1
constexpr double kLeastNumbered = 15.0; // smaller cells carry no number
constexpr double kFaintest = 0.10;      // tint of a cell that is not empty
constexpr double kConfusionGap = 6.0;

} // namespace

ConfusionView::ConfusionView(QWidget* parent) : PaintedView(parent) {
    setAccessibleName(tr("Confusion matrix"));
    QSizePolicy policy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    policy.setHeightForWidth(true);
    setSizePolicy(policy);
}

void ConfusionView::setCounts(int classes, std::vector<qint64> counts, const QStringList& names) {
    classes_ = classes;
    counts_ = std::move(counts);
    counts_.resize(static_cast<std::size_t>(classes) * static_cast<std::size_t>(classes));
    names_ = names;
    row_sums_.assign(static_cast<std::size_t>(classes), 0);
    for (int actual = 0; actual < classes; ++actual) {
        for (int said = 0; said < classes; ++said) {
            row_sums_[static_cast<std::size_t>(actual)] += count(actual, said);
        }
    }
    selected_ = -1;
    itemsChanged();
}

void ConfusionView::setPercent(bool percent) {
    percent_ = percent;
    update();
}

void ConfusionView::setSelected(int cell) {
    selected_ = cell;
    update();
}

qint64 ConfusionView::count(int actual, int said) const {
    return counts_[static_cast<std::size_t>(actual * classes_ + said)];
}

double ConfusionView::shareOfRow(int actual, int said) const {
    const qint64 sum = row_sums_[static_cast<std::size_t>(actual)];
    return sum > 0 ? static_cast<double>(count(actual, said)) / static_cast<double>(sum) : 0.0;
}

QString ConfusionView::className(int index) const {
    return index < names_.size() ? names_[index] : QString::number(index);
}

ConfusionView::Layout ConfusionView::layoutFor(double width) const {
    const QFont caption = Theme::current().font(TextStyle::Caption);
    const QFont strong = Theme::current().font(TextStyle::CaptionStrong); // of the chosen ones
    Layout layout;
    for (int i = 0; i < classes_; ++i) {
        layout.names = std::max(layout.names, textWidth(strong, className(i)));
    }
    const double most = std::min(kMostNames * Theme::current().fontScale(), width / 3.0);
    layout.names = std::min(std::ceil(layout.names), most);
    const double left = layout.names + kConfusionGap;
    const double line = std::ceil(QFontMetricsF(caption).height());
    layout.side = std::max(2.0, std::floor((width - left - 1.0) / std::max(1, classes_)));
    // Columns are named upright.
    layout.origin = QPointF(left, line + layout.names + 2.0 * kConfusionGap);
    layout.height = layout.origin.y() + layout.side * classes_ + 2.0;
    return layout;
}

int ConfusionView::heightForWidth(int width) const {
    return classes_ == 0 ? 64 : static_cast<int>(std::ceil(layoutFor(width).height));
}

ViewItem ConfusionView::item(int index) const {
    const Layout layout = layoutFor(width());
    const int actual = index / classes_;
    const int said = index % classes_;
    const QString share = QString::number(shareOfRow(actual, said) * 100.0, 'f', 1);
    const QString name =
        actual == said
            ? tr("%1 said of %1, right: %2, %3 % of its class")
                  .arg(className(actual), formatCount(count(actual, said)), share)
            : tr("%1 said of %2: %3, %4 % of its class")
                  .arg(className(said), className(actual), formatCount(count(actual, said)), share);
    return {QRectF(layout.origin.x() + said * layout.side, layout.origin.y() + actual * layout.side,
                   layout.side, layout.side),
            name,
            {}};
}

int ConfusionView::hitTest(const QPointF& position) const {
    if (classes_ == 0) {
        return -1;
    }
    const Layout layout = layoutFor(width());
    const int said = static_cast<int>(std::floor((position.x() - layout.origin.x()) / layout.side));
    const int actual =
        static_cast<int>(std::floor((position.y() - layout.origin.y()) / layout.side));
    const bool inside = said >= 0 && said < classes_ && actual >= 0 && actual < classes_;
    return inside ? actual * classes_ + said : -1;
}

int ConfusionView::neighbour(int index, int key) const {
    const int said = index % classes_;
    const bool edge =
        (key == Qt::Key_Left && said == 0) || (key == Qt::Key_Right && said + 1 == classes_);
    return edge ? index : gridNeighbour(index, key, classes_);
}

void ConfusionView::paintNames(QPainter& painter, const Layout& layout) const {
    const Theme& theme = Theme::current();
    const QFont caption = theme.font(TextStyle::Caption);
    const double line = std::ceil(QFontMetricsF(caption).height());
    paintText(painter, QRectF(layout.origin.x(), 0, layout.side * classes_, line),
              Qt::AlignHCenter | Qt::AlignVCenter, tr("the model says"), caption,
              theme.color(Role::Muted));
    const int pointed = hoveredItem() >= 0 ? hoveredItem() : cursorItem();
    const bool rows_fit = layout.side >= line * 0.8;
    for (int i = 0; i < classes_ && rows_fit; ++i) {
        const bool row = pointed >= 0 && pointed / classes_ == i;
        const bool column = pointed >= 0 && pointed % classes_ == i;
        paintText(painter,
                  QRectF(0, layout.origin.y() + i * layout.side, layout.names, layout.side),
                  Qt::AlignRight | Qt::AlignVCenter, className(i),
                  row ? theme.font(TextStyle::CaptionStrong) : caption, theme.color(Role::Text));
        painter.save();
        painter.translate(layout.origin.x() + i * layout.side, layout.origin.y() - kConfusionGap);
        painter.rotate(-90.0);
        paintText(painter, QRectF(0, 0, layout.names, layout.side),
                  Qt::AlignLeft | Qt::AlignVCenter, className(i),
                  column ? theme.font(TextStyle::CaptionStrong) : caption, theme.color(Role::Text));
        painter.restore();
    }
}

void ConfusionView::paintCell(QPainter& painter, const Layout& layout, int actual, int said) const {
    const Theme& theme = Theme::current();
    const QRectF cell(layout.origin.x() + said * layout.side,
                      layout.origin.y() + actual * layout.side, layout.side, layout.side);
    const qint64 number = count(actual, said);
    const double share = shareOfRow(actual, said);
    const double alpha = number > 0 ? kFaintest + (1.0 - kFaintest) * share : 0.0;
    const Role role = actual == said ? Role::Accent : Role::Error;
    const QColor fill = mixed(theme.color(role), theme.color(Role::Surface), alpha);
    painter.fillRect(cell.adjusted(0, 0, -1, -1), number > 0 ? fill : theme.color(Role::Inset));
    if (layout.side < kLeastNumbered || number == 0) {
        return;
    }
    const QString text = percent_ ? QString::number(share * 100.0, 'f', share < 0.0995 ? 1 : 0)
                                  : formatCount(number);
    const QFont font = theme.font(TextStyle::MonoSmall);
    if (textWidth(font, text) > layout.side - 2.0) {
        return; // the tooltip has it
    }
    const QColor light = theme.color(Role::Surface);
    const QColor dark = theme.color(Role::Text);
    paintText(painter, cell, Qt::AlignCenter, text, font,
              contrastRatio(fill, light) > contrastRatio(fill, dark) ? light : dark, Qt::ElideNone);
}

void ConfusionView::paintScene(QPainter& painter, const QSizeF& view_size) const {
    if (classes_ == 0) {
        return;
    }
    const Layout layout = layoutFor(view_size.width());
    painter.setRenderHint(QPainter::Antialiasing, false);
    for (int actual = 0; actual < classes_; ++actual) {
        for (int said = 0; said < classes_; ++said) {
            paintCell(painter, layout, actual, said);
        }
    }
    painter.setRenderHint(QPainter::Antialiasing);
    paintNames(painter, layout);
    if (selected_ >= 0) {
        const QRectF cell(layout.origin.x() + (selected_ % classes_) * layout.side,
                          layout.origin.y() + (selected_ / classes_) * layout.side, layout.side,
                          layout.side);
        paintSurface(painter, cell.adjusted(-1, -1, 0, 0), 2.0, {},
                     Theme::current().color(Role::Text), Qt::SolidLine, 2.0);
    }
}

} // namespace weft::widgets
