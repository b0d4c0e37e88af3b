// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/card.h"

#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"

#include <QDragEnterEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QMimeData>
#include <QMouseEvent>
#include <QScrollArea>
#include <QUrl>

#include <functional>
#include <utility>

namespace weft::widgets {
namespace {

constexpr int kLeastLetters = 8; // fewer say nothing

/// Is left out where next to nothing of it would be seen.
class Subtitle : public ElidedLabel {
public:
    using ElidedLabel::ElidedLabel;

protected:
    void paintEvent(QPaintEvent* event) override {
        const QFontMetricsF metrics(Theme::current().font(TextStyle::Caption));
        if (!isElided() || width() >= kLeastLetters * metrics.averageCharWidth()) {
            ElidedLabel::paintEvent(event);
        }
    }
};

} // namespace

Card::Card(QWidget* parent) : QFrame(parent) {
    setFrameShape(QFrame::NoFrame);
}

void Card::setClickable(bool clickable) {
    clickable_ = clickable;
    setFocusPolicy(clickable ? Qt::TabFocus : Qt::NoFocus);
    setCursor(clickable ? Qt::PointingHandCursor : Qt::ArrowCursor);
    update();
}

void Card::setSelected(bool selected) {
    selected_ = selected;
    update();
}

void Card::setDashed(bool dashed, bool active) {
    dashed_ = dashed;
    active_ = active;
    update();
}

void Card::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    const bool hover = clickable_ && isEnabled() && underMouse();
    const QColor fill = active_ ? theme.color(Role::AccentTint) : theme.color(Role::Surface);
    const QColor border = active_            ? theme.color(Role::Accent)
                          : dashed_ || hover ? theme.color(Role::Border)
                                             : theme.color(Role::Hairline);
    paintSurface(painter, rect(), size::kCardRadius, fill, border,
                 dashed_ ? Qt::DashLine : Qt::SolidLine);
    if (selected_ || hasFocus()) {
        paintFocus(painter, rect(), size::kCardRadius);
    }
}

void Card::enterEvent(QEnterEvent* event) {
    QFrame::enterEvent(event);
    update();
}

void Card::leaveEvent(QEvent* event) {
    QFrame::leaveEvent(event);
    update();
}

void Card::mousePressEvent(QMouseEvent* event) {
    pressed_ = clickable_ && event->button() == Qt::LeftButton;
    event->setAccepted(pressed_);
}

void Card::mouseReleaseEvent(QMouseEvent* event) {
    if (std::exchange(pressed_, false) && rect().contains(event->pos())) {
        emit clicked(); // may be the end of this card
    }
}

void Card::keyPressEvent(QKeyEvent* event) {
    const int key = event->key();
    if (clickable_ && (key == Qt::Key_Return || key == Qt::Key_Enter || key == Qt::Key_Space)) {
        emit clicked();
        return;
    }
    QFrame::keyPressEvent(event);
}

void Card::changeEvent(QEvent* event) {
    QFrame::changeEvent(event);
    update();
}

QStringList localPaths(const QMimeData* data) {
    QStringList paths;
    if (data && data->hasUrls()) {
        for (const QUrl& url : data->urls()) {
            if (url.isLocalFile()) {
                paths.append(url.toLocalFile());
            }
        }
    }
    return paths;
}

namespace {

/// Files are dragged over the window of a zone, wherever that is.
class DragWatch : public QObject {
public:
    DragWatch(DropZone* zone, std::function<void(bool)> over)
        : QObject(zone), zone_(zone), over_(std::move(over)) {
        zone->installEventFilter(this);
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Show && watched == zone_) {
            zone_->window()->installEventFilter(this);
        } else if (event->type() == QEvent::DragEnter && watched == zone_->window()) {
            over_(!localPaths(static_cast<QDragEnterEvent*>(event)->mimeData()).isEmpty());
        } else if (event->type() == QEvent::DragLeave || event->type() == QEvent::Drop) {
            over_(false);
        }
        return false;
    }

private:
    DropZone* zone_;
    std::function<void(bool)> over_;
};

} // namespace

DropZone::DropZone(QWidget* parent) : Card(parent) {
    setAcceptDrops(true);
    setDashed(true, false);
    new DragWatch(this, [this](bool over) { setDashed(true, over); });
    setAccessibleName(tr("Drop a file or folder here"));
}

void DropZone::dragEnterEvent(QDragEnterEvent* event) {
    if (!localPaths(event->mimeData()).isEmpty()) {
        event->acceptProposedAction();
        setDashed(true, true);
    }
}

void DropZone::dragLeaveEvent(QDragLeaveEvent*) {
    setDashed(true, false);
}

void DropZone::dropEvent(QDropEvent* event) {
    setDashed(true, false);
    const QStringList paths = localPaths(event->mimeData());
    if (!paths.isEmpty()) {
        event->acceptProposedAction();
        emit pathsDropped(paths);
    }
}

SectionHeader::SectionHeader(const QString& title, Level level, QWidget* parent)
    : QWidget(parent), level_(level), layout_(new QHBoxLayout(this)),
      title_(new TextLabel(title,
                           level == Level::Page      ? TextStyle::Title
                           : level == Level::Section ? TextStyle::Heading
                                                     : TextStyle::Strong,
                           Role::Text, this)),
      subtitle_(new Subtitle({}, TextStyle::Caption, Role::Muted, this)),
      trailing_(new TextLabel({}, TextStyle::Caption, Role::Muted, this)) {
    const int side = level == Level::Page    ? space::kMargin
                     : level == Level::Panel ? space::kGroup
                                             : 0;
    layout_->setContentsMargins(side, 0, side, side > 0 ? 1 : 0);
    layout_->setSpacing(space::kControl);
    layout_->addWidget(title_);
    layout_->addWidget(subtitle_, 1);
    layout_->addWidget(trailing_);
    trailing_->hide();
    setFixedHeight(level == Level::Page ? size::kPageHeaderHeight : size::kPanelHeaderHeight);
}

void SectionHeader::setTitle(const QString& title) {
    title_->setText(title);
}

void SectionHeader::setSubtitle(const QString& subtitle) {
    subtitle_->setText(subtitle);
}

void SectionHeader::setBadge(QWidget* badge) {
    layout_->insertWidget(1, badge);
}

void SectionHeader::addControl(QWidget* control) {
    layout_->addWidget(control);
}

void SectionHeader::setTrailing(const QString& text, Role role) {
    trailing_->setText(text);
    trailing_->setRole(role);
    trailing_->setVisible(!text.isEmpty());
}

void SectionHeader::paintEvent(QPaintEvent*) {
    if (level_ == Level::Section || level_ == Level::Inline) {
        return;
    }
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.color(Role::Surface));
    paintHairline(painter, QPointF(0, height() - 1), QPointF(width(), height() - 1),
                  theme.color(Role::Hairline));
}

Hairline::Hairline(Qt::Orientation orientation, QWidget* parent) : QWidget(parent) {
    orientation == Qt::Horizontal ? setFixedHeight(1) : setFixedWidth(1);
}

void Hairline::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), Theme::current().color(Role::Hairline));
}

Surface::Surface(Role role, QWidget* parent) : QWidget(parent), role_(role) {}

void Surface::paintEvent(QPaintEvent*) {
    QPainter(this).fillRect(rect(), Theme::current().color(role_));
}

QScrollArea* verticalScroll(QWidget* content) {
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setFocusPolicy(Qt::NoFocus);
    scroll->setWidget(content);
    scroll->viewport()->setAutoFillBackground(false);
    content->setAutoFillBackground(false);
    return scroll;
}

} // namespace weft::widgets
