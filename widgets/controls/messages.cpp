// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/messages.h"

#include "widgets/controls/arranging.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QLabel>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::widgets {
namespace {

// A label that keeps an icon right through theme changes, which a pixmap would not.
class MessageIcon : public QLabel {
public:
    MessageIcon(int side, QWidget* parent) : QLabel(parent), side_(side) {
        setFixedSize(side, side);
    }
    void setIcon(const QString& name, Role role) {
        name_ = name;
        role_ = role;
        update();
    }

protected:
    void paintEvent(QPaintEvent*) override {
        if (isIconName(name_)) {
            QPainter painter(this);
            paintIcon(painter, QRectF(0, 0, side_, side_), name_, Theme::current().color(role_));
        }
    }

private:
    int side_;
    QString name_;
    Role role_ = Role::Text;
};

} // namespace

QString messageIconName(MessageKind kind) {
    switch (kind) {
    case MessageKind::Info: return QStringLiteral("info");
    case MessageKind::Success: return QStringLiteral("check");
    case MessageKind::Warning: return QStringLiteral("warning");
    case MessageKind::Error: return QStringLiteral("error");
    }
    return {};
}

Role messageRole(MessageKind kind) {
    switch (kind) {
    case MessageKind::Info: return Role::Accent;
    case MessageKind::Success: return Role::Success;
    case MessageKind::Warning: return Role::Warning;
    case MessageKind::Error: return Role::Error;
    }
    return Role::Accent;
}

Banner::Banner(MessageKind kind, QWidget* parent)
    : QWidget(parent), kind_(kind), icon_(new MessageIcon(size::kIcon, this)),
      what_(new TextLabel({}, TextStyle::Strong, Role::Text, this)),
      detail_(new TextLabel({}, TextStyle::Body, Role::Muted, this)), buttons_(new QHBoxLayout),
      close_(new QPushButton(this)) {
    auto* layout = new QHBoxLayout(this);
    layout->setContentsMargins(space::kMargin, 4, space::kGroup, 5);
    layout->setSpacing(space::kControl);
    layout->addWidget(icon_);
    layout->addWidget(what_);
    layout->addWidget(detail_, 1);
    layout->addLayout(buttons_);
    layout->addWidget(close_);
    buttons_->setSpacing(space::kControl);
    detail_->setWordWrap(true);
    close_->setIcon(icon(QStringLiteral("close"), Role::Muted));
    close_->setObjectName("bannerClose");
    close_->setAccessibleName(tr("Close this message"));
    setButtonKind(close_, ButtonKind::Flat);
    setCompact(close_);
    close_->hide();
    connect(close_, &QPushButton::clicked, this, [this] {
        hide();
        emit closed();
    });
    setMinimumHeight(size::kBannerHeight);
    setSizePolicy(QSizePolicy::Preferred, QSizePolicy::Minimum);
    refresh();
}

void Banner::setKind(MessageKind kind) {
    kind_ = kind;
    refresh();
}

void Banner::setIconName(const QString& name) {
    icon_name_ = name;
    refresh();
}

void Banner::setText(const QString& what, const QString& detail) {
    what_->setText(what);
    detail_->setText(detail);
    setAccessibleName(detail.isEmpty() ? what : what + QLatin1Char(' ') + detail);
}

QPushButton* Banner::addButton(const QString& text, bool flat) {
    auto* button = new QPushButton(text, this);
    setCompact(button);
    if (flat) {
        setButtonKind(button, ButtonKind::Flat);
    }
    buttons_->addWidget(button);
    return button;
}

void Banner::clearButtons() {
    clearLayout(*buttons_);
}

void Banner::setClosable(bool closable) {
    close_->setVisible(closable);
}

void Banner::refresh() {
    static_cast<MessageIcon*>(icon_)->setIcon(
        icon_name_.isEmpty() ? messageIconName(kind_) : icon_name_, messageRole(kind_));
    update();
}

void Banner::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.color(tintOf(messageRole(kind_))));
    paintHairline(painter, QPointF(0, height() - 1), QPointF(width(), height() - 1),
                  theme.color(Role::Hairline));
}

namespace {
constexpr int kHeightForIcon = 200;
constexpr int kLongestWord = 64;
constexpr int kWidestText = 720;
} // namespace

EmptyState::EmptyState(const QString& icon_name, const QString& title, const QString& text,
                       QWidget* parent)
    : QWidget(parent), icon_(new MessageIcon(32, this)),
      title_(new TextLabel(title, TextStyle::Heading, Role::Text, this)),
      text_(new TextLabel(text, TextStyle::Body, Role::Muted, this)), buttons_(new QHBoxLayout) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kMargin, space::kTight, space::kMargin, space::kTight);
    layout->setSpacing(space::kControl);
    layout->addStretch(2);
    layout->addWidget(icon_, 0, Qt::AlignHCenter);
    layout->addSpacing(space::kTight);
    layout->addWidget(title_, 0, Qt::AlignHCenter);
    layout->addWidget(text_, 0, Qt::AlignHCenter);
    layout->addSpacing(space::kControl);
    layout->addLayout(buttons_);
    layout->addStretch(3);
    buttons_->setAlignment(Qt::AlignHCenter);
    buttons_->setSpacing(space::kControl);
    text_->setAlignment(Qt::AlignHCenter);
    text_->setWordWrap(true);
    setIconName(icon_name);
    title_->setVisible(!title.isEmpty());
    text_->setVisible(!text.isEmpty());
}

void EmptyState::setIconName(const QString& name) {
    static_cast<MessageIcon*>(icon_)->setIcon(name, Role::Faint);
    has_icon_ = !name.isEmpty();
    arrange();
}

void EmptyState::setTitle(const QString& title) {
    title_->setText(title);
    title_->setVisible(!title.isEmpty());
}

void EmptyState::setText(const QString& text) {
    text_->setText(text);
    text_->setVisible(!text.isEmpty());
    arrange();
}

QSize EmptyState::minimumSizeHint() const {
    const int title = title_->isHidden() ? 0 : title_->sizeHint().width();
    return {std::max(title, buttons_->minimumSize().width()) + 2 * space::kMargin,
            QWidget::minimumSizeHint().height()};
}

void EmptyState::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    arrange();
}

// Where there is little height the words count: they take the width, and the icon goes.
void EmptyState::arrange() {
    icon_->setVisible(has_icon_ && height() >= kHeightForIcon);
    const int line = text_->fontMetrics().horizontalAdvance(text_->text()) + 2;
    const int room = std::max(0, std::min({line, kWidestText, width() - 2 * space::kMargin}));
    // Lines of about one length: no word stands alone in the last one.
    const int lines = room > 0 ? (line + room - 1) / room : 1;
    const int wide = lines > 1 ? std::min(room, line / lines + kLongestWord) : room;
    text_->setMinimumWidth(wide);
    // A centred label does not ask for the height that its lines need.
    text_->setMinimumHeight(std::max(0, text_->heightForWidth(wide)));
}

QPushButton* EmptyState::addButton(const QString& text, bool primary) {
    auto* button = new QPushButton(text, this);
    if (primary) {
        setButtonKind(button, ButtonKind::Primary);
    }
    buttons_->addWidget(button);
    return button;
}

} // namespace weft::widgets
