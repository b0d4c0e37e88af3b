// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/messages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QAbstractSlider>
#include <QAbstractSpinBox>
#include <QAction>
#include <QComboBox>
#include <QCoreApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPointer>
#include <QPushButton>
#include <QStyle>
#include <QTimer>

#include <algorithm>
#include <optional>

namespace weft::widgets {
namespace {

constexpr int kShownMs = 6000;
constexpr int kWideToast = 560;
constexpr int kToastWidths[] = {480, 360, 280}; // where it has no room on one line
constexpr int kLeastToastHeight = 40;
constexpr int kToastMarkRoom = 44;

// One note. It goes after six seconds, but never from under the pointer.
class Toast : public QWidget {
public:
    Toast(MessageKind kind, const QString& text, QAction* action, QWidget* parent)
        : QWidget(parent), kind_(kind), text_(text), action_(action), timer_(new QTimer(this)) {
        auto* layout = new QHBoxLayout(this);
        // Two lines are no higher than the head of a page.
        layout->setContentsMargins(kToastMarkRoom, space::kTight, space::kControl, space::kTight);
        layout->setSpacing(space::kControl);
        label_ = new TextLabel(text, TextStyle::Body, Role::Text, this);
        label_->setWordWrap(true);
        layout->addWidget(label_, 1);
        if (action) {
            addActionButton(action, layout);
        }
        auto* close = new QPushButton(this);
        close->setIcon(icon(QStringLiteral("close"), Role::Muted));
        close->setAccessibleName(QCoreApplication::translate("Toast", "Dismiss"));
        setButtonKind(close, ButtonKind::Flat);
        setCompact(close);
        layout->addWidget(close);
        connect(close, &QPushButton::clicked, this, &QWidget::deleteLater);
        timer_->setSingleShot(true);
        timer_->start(kShownMs);
        connect(timer_, &QTimer::timeout, this, &QWidget::deleteLater);
        setAccessibleName(text);
    }

    /// Goes with it, if that is still shown when this turn of the event loop is over.
    void follow(QWidget* page) {
        QTimer::singleShot(0, this, [this, page = QPointer<QWidget>(page)] {
            if (page != nullptr && page->isVisible()) {
                page->installEventFilter(this);
            }
        });
    }

    /// On one line where that is not too long, else on several.
    std::vector<QSize> shapes() const {
        const QFontMetrics metrics(label_->font());
        int line = kToastMarkRoom + metrics.horizontalAdvance(text_) + 2 + space::kControl;
        for (const auto* button : findChildren<QPushButton*>()) {
            line += space::kControl + button->sizeHint().width();
        }
        std::vector<int> widths;
        if (line <= kWideToast * Theme::current().fontScale()) {
            widths.push_back(line);
        }
        for (const int width : kToastWidths) {
            if (widths.empty() || width < widths.back()) {
                widths.push_back(width);
            }
        }
        std::vector<QSize> out;
        for (const int width : widths) {
            out.emplace_back(width,
                             std::max(kLeastToastHeight, layout()->totalHeightForWidth(width)));
        }
        return out;
    }

    bool isReplacedBy(const QString& text, const QAction* action) const {
        return action != nullptr ? action == action_ : text == text_;
    }

protected:
    bool eventFilter(QObject* page, QEvent* event) override {
        if (event->type() == QEvent::Hide) {
            deleteLater();
        }
        return QWidget::eventFilter(page, event);
    }
    void enterEvent(QEnterEvent*) override { timer_->stop(); }
    void leaveEvent(QEvent*) override { timer_->start(kShownMs); }
    void paintEvent(QPaintEvent*) override {
        QPainter painter(this);
        const Theme& theme = Theme::current();
        paintSurface(painter, rect(), size::kCardRadius, theme.color(Role::Surface),
                     theme.color(Role::Border));
        paintIcon(painter,
                  QRectF(16, (kLeastToastHeight - size::kIcon) / 2.0, size::kIcon, size::kIcon),
                  messageIconName(kind_), theme.color(messageRole(kind_)));
    }

private:
    void addActionButton(QAction* action, QHBoxLayout* layout) {
        auto* button = new QPushButton(action->text(), this);
        setCompact(button);
        layout->addWidget(button);
        connect(button, &QPushButton::clicked, action, &QAction::trigger);
        connect(button, &QPushButton::clicked, this, &QWidget::deleteLater);
    }

    MessageKind kind_;
    QString text_;
    TextLabel* label_;
    QPointer<QAction> action_;
    QTimer* timer_;
};

/// What one clicks, types into or drags; the rest is there to be seen.
bool isToastObstacle(const QWidget& widget) {
    const bool card = qobject_cast<const Card*>(&widget) != nullptr;
    return (card && widget.focusPolicy() != Qt::NoFocus) ||
           qobject_cast<const QAbstractButton*>(&widget) != nullptr ||
           qobject_cast<const QComboBox*>(&widget) != nullptr ||
           qobject_cast<const QLineEdit*>(&widget) != nullptr ||
           qobject_cast<const QAbstractSpinBox*>(&widget) != nullptr ||
           qobject_cast<const QAbstractSlider*>(&widget) != nullptr;
}

/// Where the words of a label stand, which may be as wide as the page; else the whole.
QRect seenPart(const QWidget& widget, const QRect& rect) {
    const auto* label = qobject_cast<const QLabel*>(&widget);
    const auto* elided = qobject_cast<const ElidedLabel*>(&widget);
    if ((label == nullptr && elided == nullptr) || (label != nullptr && label->wordWrap())) {
        return rect;
    }
    const Qt::Alignment alignment =
        label != nullptr ? label->alignment() : Qt::AlignLeft | Qt::AlignVCenter;
    return QStyle::alignedRect(widget.layoutDirection(), alignment,
                               widget.sizeHint().boundedTo(rect.size()), rect);
}

} // namespace

ToastHost::ToastHost(QWidget* window)
    : QObject(window), window_(window), area_(window), clearing_(new QTimer(this)) {
    window->installEventFilter(this);
    clearing_->setSingleShot(true);
    connect(clearing_, &QTimer::timeout, this, &ToastHost::keepClear);
}

ToastHost::~ToastHost() = default;

void ToastHost::setArea(QWidget* area) {
    area_ = area;
    area->installEventFilter(this);
}

void ToastHost::show(MessageKind kind, const QString& text, QAction* action, QWidget* page) {
    history_.push_back({kind, text, action ? action->text() : QString()});
    for (auto it = toasts_.begin(); it != toasts_.end();) {
        if (static_cast<Toast*>(*it)->isReplacedBy(text, action)) {
            (*it)->hide();
            (*it)->deleteLater(); // a click on it may be on its way out
            it = toasts_.erase(it);
        } else {
            ++it;
        }
    }
    auto* toast = new Toast(kind, text, action, window_);
    connect(toast, &QObject::destroyed, this, [this, toast] { forget(toast); });
    if (page != nullptr) {
        toast->follow(page);
    }
    toasts_.push_back(toast);
    place(*toast);
    toast->show();
    QCoreApplication::instance()->installEventFilter(this); // controls come and move meanwhile
    emit historyChanged();
}

void ToastHost::dismissAll() {
    for (QWidget* toast : toasts_) {
        toast->deleteLater();
    }
}

int ToastHost::visibleCount() const {
    return static_cast<int>(toasts_.size());
}

void ToastHost::forget(QWidget* toast) {
    std::erase(toasts_, toast);
    if (toasts_.empty()) {
        QCoreApplication::instance()->removeEventFilter(this);
    }
}

bool ToastHost::eventFilter(QObject* watched, QEvent* event) {
    const QEvent::Type type = event->type();
    if (type == QEvent::Resize && (watched == area_ || watched == window_)) {
        arrange();
    } else if (!toasts_.empty() && !clearing_->isActive() &&
               (type == QEvent::Show || type == QEvent::Resize || type == QEvent::Move)) {
        clearing_->start();
    }
    return QObject::eventFilter(watched, event);
}

void ToastHost::addTo(FreePlaces& places, const QWidget& widget, const QRect& seen) const {
    bool leaf = true;
    for (QObject* child : widget.children()) {
        const auto* inner = qobject_cast<const QWidget*>(child);
        if (inner == nullptr || inner->isHidden() || inner->isWindow() ||
            std::find(toasts_.begin(), toasts_.end(), inner) != toasts_.end()) {
            continue;
        }
        leaf = false;
        const QRect all(inner->mapTo(window_, QPoint(0, 0)), inner->size());
        if (const QRect part = all & seen; !part.isEmpty()) {
            addTo(places, *inner, part);
        }
    }
    const QRect around =
        seen.adjusted(-space::kTight, -space::kTight, space::kTight, space::kTight);
    if (isToastObstacle(widget)) {
        places.keep(around, FreePlaces::Keep::Free);
    } else if (leaf && &widget != area_) {
        places.keep(seenPart(widget, seen), FreePlaces::Keep::Seen);
    }
}

FreePlaces ToastHost::places() const {
    const QRect all(area_->mapTo(window_, QPoint(0, 0)), area_->size());
    FreePlaces out(
        all.adjusted(space::kControl, space::kTight, -space::kControl, -space::kControl));
    addTo(out, *area_, all);
    return out;
}

void ToastHost::place(QWidget& toast) {
    FreePlaces places = this->places();
    for (const QWidget* other : toasts_) {
        if (other != &toast && other->isVisible()) {
            places.keep(other->geometry().adjusted(-space::kTight, -space::kTight, space::kTight,
                                                   space::kTight),
                        FreePlaces::Keep::Free);
        }
    }
    std::optional<FreePlaces::Place> best;
    for (const QSize& shape : static_cast<const Toast&>(toast).shapes()) {
        const FreePlaces::Place found = places.find(shape);
        if (!best || found.betterThan(*best)) {
            best = found;
        }
    }
    toast.setGeometry(best->rect);
    toast.raise();
}

void ToastHost::arrange() {
    for (QWidget* toast : toasts_) {
        place(*toast);
    }
}

void ToastHost::keepClear() {
    const FreePlaces places = this->places();
    for (QWidget* toast : toasts_) {
        if (!toast->underMouse() && places.at(toast->geometry()).controls > 0) {
            place(*toast);
        }
    }
}

} // namespace weft::widgets
