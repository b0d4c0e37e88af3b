// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/messages.h"

#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QAction>
#include <QCoreApplication>
#include <QEvent>
#include <QHBoxLayout>
#include <QPointer>
#include <QPushButton>
#include <QTimer>

#include <algorithm>

namespace weft::widgets {
namespace {

constexpr int kShownMs = 6000;
constexpr int kToastWidth = 360;

// One note. It goes after six seconds, but never from under the pointer.
class Toast : public QWidget {
public:
    Toast(MessageKind kind, const QString& text, QAction* action, QWidget* parent)
        : QWidget(parent), kind_(kind), text_(text), action_(action), timer_(new QTimer(this)) {
        auto* layout = new QHBoxLayout(this);
        layout->setContentsMargins(44, 8, 8, 8);
        layout->setSpacing(space::kControl);
        auto* label = new TextLabel(text, TextStyle::Body, Role::Text, this);
        label->setWordWrap(true);
        layout->addWidget(label, 1);
        if (action) {
            addActionButton(action, layout);
        }
        auto* close = new QPushButton(this);
        close->setIcon(icon(QStringLiteral("close"), Role::Muted));
        close->setAccessibleName(QCoreApplication::translate("Toast", "Dismiss"));
        setButtonKind(close, ButtonKind::Flat);
        setCompact(close);
        layout->addWidget(close, 0, Qt::AlignTop);
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
        paintIcon(painter, QRectF(16, 12, size::kIcon, size::kIcon), messageIconName(kind_),
                  theme.color(messageRole(kind_)));
    }

private:
    void addActionButton(QAction* action, QHBoxLayout* layout) {
        auto* button = new QPushButton(action->text(), this);
        setCompact(button);
        layout->addWidget(button, 0, Qt::AlignTop);
        connect(button, &QPushButton::clicked, action, &QAction::trigger);
        connect(button, &QPushButton::clicked, this, &QWidget::deleteLater);
    }

    MessageKind kind_;
    QString text_;
    QPointer<QAction> action_;
    QTimer* timer_;
};

} // namespace

ToastHost::ToastHost(QWidget* window) : QObject(window), window_(window), area_(window) {
    window->installEventFilter(this);
}

void ToastHost::setArea(QWidget* area, int inset) {
    area_ = area;
    inset_ = inset;
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
    connect(toast, &QObject::destroyed, this, [this, toast] {
        std::erase(toasts_, toast);
        arrange();
    });
    if (page != nullptr) {
        toast->follow(page);
    }
    toasts_.push_back(toast);
    toast->show();
    arrange();
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

bool ToastHost::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::Resize) {
        arrange();
    }
    return QObject::eventFilter(watched, event);
}

// The newest on top: what is read and moved at the lower end of a page stays free.
void ToastHost::arrange() {
    const QPoint corner = area_->mapTo(window_, QPoint(area_->width(), inset_));
    int top = corner.y() + space::kMargin;
    for (auto it = toasts_.rbegin(); it != toasts_.rend(); ++it) {
        QWidget* toast = *it;
        const int width = std::min(kToastWidth, area_->width() - 2 * space::kMargin);
        const int height = std::max(40, toast->layout()->totalHeightForWidth(width));
        toast->setGeometry(corner.x() - width - space::kMargin, top, width, height);
        toast->raise();
        top += height + space::kControl;
    }
}

} // namespace weft::widgets
