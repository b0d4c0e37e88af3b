// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/command_palette.h"

#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QKeyEvent>
#include <QLineEdit>
#include <QListView>
#include <QStandardItemModel>
#include <QStyledItemDelegate>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::widgets {
namespace {

constexpr int kActionRole = Qt::UserRole;
constexpr int kShortcutRole = Qt::UserRole + 1;
constexpr int kIconNameRole = Qt::UserRole + 2;
constexpr int kEnabledRole = Qt::UserRole + 3;
constexpr int kPaletteRow = 32;
constexpr int kRowWithReason = 44;
constexpr int kRowsShown = 9;

// Without the marks of mnemonics; "&&" is a sign of the name.
QString plainText(const QAction* action) {
    return action->iconText();
}

/// Why the command of a row cannot be used now.
QString reasonOf(const QModelIndex& index) {
    return index.data(Qt::AccessibleDescriptionRole).toString();
}

class CommandDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex& index) const override {
        const bool one_line = reasonOf(index).isEmpty();
        const double scale = std::max(1.0, Theme::current().fontScale());
        return {0, one_line ? kPaletteRow : static_cast<int>(kRowWithReason * scale)};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        const bool enabled = index.data(kEnabledRole).toBool();
        const QRectF row = QRectF(option.rect).adjusted(4, 0, -4, 0);
        if (option.state & QStyle::State_Selected) {
            paintSurface(*painter, row, size::kRadius, theme.color(Role::AccentTint), {});
        }
        const QString icon_name = index.data(kIconNameRole).toString();
        if (isIconName(icon_name)) {
            paintIcon(*painter, QRectF(row.left() + 8, row.center().y() - 8, 16, 16), icon_name,
                      theme.color(enabled ? Role::Muted : Role::Faint));
        }
        const QString shortcut = index.data(kShortcutRole).toString();
        const QFont mono = theme.font(TextStyle::MonoSmall);
        const double shortcut_width = shortcut.isEmpty() ? 0 : textWidth(mono, shortcut) + 12;
        const QRectF words = row.adjusted(36, 0, -8 - shortcut_width, 0);
        const QString reason = reasonOf(index);
        // Two lines meet in the middle of the row.
        const QRectF name = reason.isEmpty() ? words : words.adjusted(0, 4, 0, -row.height() / 2);
        paintText(*painter, name, Qt::AlignLeft | Qt::AlignVCenter, index.data().toString(),
                  theme.font(TextStyle::Body), theme.color(enabled ? Role::Text : Role::Faint));
        paintText(*painter, words.adjusted(0, row.height() / 2, 0, -4),
                  Qt::AlignLeft | Qt::AlignVCenter, reason, theme.font(TextStyle::Caption),
                  theme.color(Role::Muted));
        paintText(*painter, row.adjusted(0, 0, -8, 0), Qt::AlignRight | Qt::AlignVCenter, shortcut,
                  mono, theme.color(enabled ? Role::Muted : Role::Faint));
    }
};

} // namespace

int fuzzyScore(const QString& pattern, const QString& text) {
    int score = 0;
    int at = 0;
    int previous = -2;
    for (const QChar wanted : pattern) {
        if (wanted.isSpace()) {
            continue;
        }
        const auto found = static_cast<int>(text.indexOf(wanted, at, Qt::CaseInsensitive));
        if (found < 0) {
            return -1;
        }
        const bool starts_word = found == 0 || !text[found - 1].isLetterOrNumber();
        score += 1 + (starts_word ? 8 : 0) + (found == previous + 1 ? 5 : 0);
        previous = found;
        at = found + 1;
    }
    // A whole phrase beats scattered letters.
    if (!pattern.isEmpty() && text.contains(pattern, Qt::CaseInsensitive)) {
        score += 20;
    }
    return score;
}

CommandPalette::CommandPalette(QWidget* parent)
    : QFrame(parent, Qt::Popup | Qt::FramelessWindowHint), filter_(new QLineEdit(this)),
      list_(new QListView(this)), model_(new QStandardItemModel(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(space::kControl, space::kControl, space::kControl, space::kControl);
    layout->setSpacing(space::kControl);
    layout->addWidget(filter_);
    layout->addWidget(list_);
    filter_->setPlaceholderText(tr("Type a command"));
    filter_->setAccessibleName(tr("Command filter"));
    filter_->addAction(icon(QStringLiteral("search"), Role::Muted), QLineEdit::LeadingPosition);
    filter_->installEventFilter(this);
    list_->setModel(model_);
    list_->setItemDelegate(new CommandDelegate(list_));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setEditTriggers(QAbstractItemView::NoEditTriggers);
    list_->setFocusPolicy(Qt::NoFocus);
    list_->setAccessibleName(tr("Commands"));
    connect(filter_, &QLineEdit::textChanged, this, &CommandPalette::refilter);
    connect(list_, &QListView::clicked, this, &CommandPalette::runCurrent);
    setAccessibleName(tr("Command palette"));
}

void CommandPalette::setActions(const QList<QAction*>& actions) {
    actions_.clear();
    for (QAction* action : actions) {
        actions_.append(action);
    }
    refilter();
}

void CommandPalette::open() {
    filter_->clear();
    refilter();
    constexpr int kWidth = 520;
    const int height = 28 + 3 * space::kControl + kPaletteRow * kRowsShown;
    QPoint corner(0, 0);
    if (const QWidget* window = parentWidget()) {
        const int x = (window->width() - kWidth) / 2;
        corner = window->mapToGlobal(QPoint(std::max(0, x), 72));
    }
    setGeometry(corner.x(), corner.y(), kWidth, height);
    show();
    filter_->setFocus(Qt::PopupFocusReason);
}

QStringList CommandPalette::visibleTexts() const {
    QStringList texts;
    for (int row = 0; row < model_->rowCount(); ++row) {
        if (model_->item(row)->data(kActionRole).isValid()) {
            texts.append(model_->item(row)->text());
        }
    }
    return texts;
}

bool CommandPalette::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() != QEvent::KeyPress) {
        return QFrame::eventFilter(watched, event);
    }
    switch (static_cast<QKeyEvent*>(event)->key()) {
    case Qt::Key_Down: moveBy(1); return true;
    case Qt::Key_Up: moveBy(-1); return true;
    case Qt::Key_PageDown: moveBy(kRowsShown); return true;
    case Qt::Key_PageUp: moveBy(-kRowsShown); return true;
    case Qt::Key_Return:
    case Qt::Key_Enter: runCurrent(); return true;
    case Qt::Key_Escape: hide(); return true;
    default: return QFrame::eventFilter(watched, event);
    }
}

void CommandPalette::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const Theme& theme = Theme::current();
    painter.fillRect(rect(), theme.color(Role::Surface));
    paintSurface(painter, rect(), 0.0, theme.color(Role::Surface), theme.color(Role::Border));
}

void CommandPalette::refilter() {
    struct Match {
        int score;
        QAction* action;
    };
    std::vector<Match> matches;
    for (const QPointer<QAction>& action : actions_) {
        if (!action || !action->isVisible() || action->isSeparator()) {
            continue;
        }
        const int score = fuzzyScore(filter_->text(), plainText(action));
        if (score >= 0) {
            matches.push_back({score + (action->isEnabled() ? 1 : 0), action});
        }
    }
    std::stable_sort(matches.begin(), matches.end(),
                     [](const Match& a, const Match& b) { return a.score > b.score; });
    model_->clear();
    for (const Match& match : matches) {
        auto* item = new QStandardItem(plainText(match.action));
        item->setData(QVariant::fromValue(match.action), kActionRole);
        item->setData(match.action->shortcut().toString(QKeySequence::NativeText), kShortcutRole);
        item->setData(match.action->icon().name(), kIconNameRole);
        item->setData(match.action->isEnabled(), kEnabledRole);
        item->setToolTip(match.action->toolTip());
        if (!match.action->isEnabled()) {
            item->setAccessibleDescription(match.action->property(kReasonProperty).toString());
        }
        model_->appendRow(item);
    }
    if (matches.empty()) {
        auto* item = new QStandardItem(tr("No command is called that"));
        item->setData(false, kEnabledRole);
        model_->appendRow(item);
        return;
    }
    list_->setCurrentIndex(model_->index(0, 0));
}

void CommandPalette::runCurrent() {
    const QModelIndex index = list_->currentIndex();
    QAction* chosen = index.isValid() ? index.data(kActionRole).value<QAction*>() : nullptr;
    const bool alive = std::any_of(actions_.cbegin(), actions_.cend(),
                                   [chosen](const auto& a) { return a && a == chosen; });
    if (!alive || !chosen->isEnabled()) {
        return;
    }
    hide();
    emit triggered(chosen);
    chosen->trigger();
}

void CommandPalette::moveBy(int rows) {
    const int count = model_->rowCount();
    if (count > 0) {
        const int row = std::clamp(list_->currentIndex().row() + rows, 0, count - 1);
        list_->setCurrentIndex(model_->index(row, 0));
    }
}

} // namespace weft::widgets
