// SPDX-License-Identifier: GPL-3.0-or-later
#include "widgets/controls/log_view.h"

#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"

#include <QCheckBox>
#include <QClipboard>
#include <QGuiApplication>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListView>
#include <QScrollBar>
#include <QStyledItemDelegate>
#include <QTimer>
#include <QVBoxLayout>

namespace weft::widgets {
namespace {

constexpr int kLogRow = 22;
constexpr int kFlushMs = 50;
constexpr double kTimeWidth = 96.0;
constexpr double kLevelWidth = 24.0;
constexpr double kSourceWidth = 80.0;

class LogDelegate : public QStyledItemDelegate {
public:
    using QStyledItemDelegate::QStyledItemDelegate;

    QSize sizeHint(const QStyleOptionViewItem&, const QModelIndex&) const override {
        return {0, std::max(kLogRow,
                            QFontMetrics(Theme::current().font(TextStyle::Mono)).height() + 4)};
    }

    void paint(QPainter* painter, const QStyleOptionViewItem& option,
               const QModelIndex& index) const override {
        const Theme& theme = Theme::current();
        const auto level = static_cast<LogLevel>(index.data(LogModel::LevelRole).toInt());
        if (option.state & QStyle::State_Selected) {
            painter->fillRect(option.rect, theme.color(Role::AccentTint));
        }
        const QFont mono = theme.font(TextStyle::Mono);
        QRectF row = QRectF(option.rect).adjusted(12, 0, -12, 0);
        const auto column = [&](double width, const QString& text, Role role) {
            paintText(*painter, QRectF(row.left(), row.top(), width - 8, row.height()),
                      Qt::AlignLeft | Qt::AlignVCenter, text, mono, theme.color(role));
            row.setLeft(row.left() + width);
        };
        column(kTimeWidth, index.data(LogModel::TimeRole).toString(), Role::Muted);
        if (level >= LogLevel::Warning) {
            const bool error = level == LogLevel::Error;
            paintIcon(*painter, QRectF(row.left(), row.center().y() - 7, 14, 14),
                      error ? QStringLiteral("error") : QStringLiteral("warning"),
                      theme.color(error ? Role::Error : Role::Warning));
        }
        row.setLeft(row.left() + kLevelWidth);
        column(kSourceWidth, index.data(LogModel::SourceRole).toString(), Role::Muted);
        const Role role = level == LogLevel::Error     ? Role::Error
                          : level == LogLevel::Warning ? Role::Warning
                          : level == LogLevel::Debug   ? Role::Muted
                                                       : Role::Text;
        column(row.width() + 8, index.data(LogModel::TextRole).toString(), role);
    }
};

QHBoxLayout* barLayout(QWidget* bar) {
    auto* layout = new QHBoxLayout(bar);
    layout->setContentsMargins(space::kGroup, space::kTight, space::kGroup, space::kTight);
    layout->setSpacing(space::kControl);
    return layout;
}

} // namespace

LogView::LogView(QWidget* parent)
    : QWidget(parent), model_(new LogModel(this)), list_(new QListView(this)),
      filter_(new QLineEdit(this)), levels_(new SegmentedControl(this)),
      follow_(new QCheckBox(tr("Follow"), this)),
      count_(new TextLabel({}, TextStyle::Caption, Role::Muted, this)), timer_(new QTimer(this)) {
    auto* layout = new QVBoxLayout(this);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* bar = new Surface(Role::Surface, this);
    QHBoxLayout* tools = barLayout(bar);
    for (const QString& name : {tr("All"), tr("Info"), tr("Warnings"), tr("Errors")}) {
        levels_->addSegment(name);
    }
    levels_->setCompact(true);
    filter_->setPlaceholderText(tr("Filter, or /regular expression/"));
    filter_->setAccessibleName(tr("Log filter"));
    filter_->setClearButtonEnabled(true);
    filter_->setMaximumWidth(320);
    setCompact(filter_);
    follow_->setChecked(true);
    auto* copy = new QPushButton(tr("Copy"), this);
    copy->setToolTip(tr("Copy the lines shown, for a bug report"));
    copy->setIcon(icon(QStringLiteral("copy")));
    setCompact(copy);
    tools->addWidget(levels_);
    tools->addWidget(filter_, 1);
    tools->addStretch(1);
    tools->addWidget(count_);
    tools->addWidget(follow_);
    tools->addWidget(copy);
    layout->addWidget(bar);
    layout->addWidget(new Hairline(Qt::Horizontal, this));
    layout->addWidget(list_, 1);
    list_->setModel(model_);
    list_->setItemDelegate(new LogDelegate(list_));
    list_->setUniformItemSizes(true);
    list_->setVerticalScrollMode(QAbstractItemView::ScrollPerPixel);
    list_->setFrameShape(QFrame::NoFrame);
    list_->setSelectionMode(QAbstractItemView::ExtendedSelection);
    list_->setAccessibleName(tr("Log lines"));
    timer_->setSingleShot(true);
    timer_->setInterval(kFlushMs);
    connect(timer_, &QTimer::timeout, this, &LogView::flush);
    connect(filter_, &QLineEdit::textChanged, this, &LogView::refilter);
    connect(levels_, &SegmentedControl::currentIndexChanged, this, &LogView::refilter);
    connect(model_, &LogModel::filtered, this, [this] {
        updateCount();
        if (follow_->isChecked()) {
            list_->scrollToBottom();
        }
    });
    // A dock that opens or is resized: the end stays in sight.
    connect(list_->verticalScrollBar(), &QScrollBar::rangeChanged, this, [this](int, int last) {
        if (follow_->isChecked()) {
            list_->verticalScrollBar()->setValue(last);
        }
    });
    connect(copy, &QPushButton::clicked, this, &LogView::copyShown);
    connect(follow_, &QCheckBox::toggled, this, [this](bool on) {
        if (on) {
            list_->scrollToBottom();
        }
    });
    connect(list_, &QListView::activated, this, [this](const QModelIndex& index) {
        const qint64 step = index.data(LogModel::StepRole).toLongLong();
        if (step >= 0) {
            emit stepActivated(step);
        }
    });
    // Scrolling up by hand is a wish to read: following pauses until the end is reached again.
    connect(list_->verticalScrollBar(), &QScrollBar::actionTriggered, this, [this](int) {
        const QScrollBar* scroll = list_->verticalScrollBar();
        follow_->setChecked(scroll->sliderPosition() >= scroll->maximum());
    });
    updateCount();
}

void LogView::append(std::vector<LogLine> lines) {
    pending_.insert(pending_.end(), std::make_move_iterator(lines.begin()),
                    std::make_move_iterator(lines.end()));
    if (!timer_->isActive()) {
        timer_->start();
    }
}

void LogView::append(const LogLine& line) {
    pending_.push_back(line);
    if (!timer_->isActive()) {
        timer_->start();
    }
}

void LogView::flush() {
    timer_->stop();
    if (pending_.empty()) {
        return;
    }
    model_->append(std::exchange(pending_, {}));
    updateCount();
    if (follow_->isChecked()) {
        list_->scrollToBottom();
    }
}

void LogView::clear() {
    pending_.clear();
    model_->clear();
    updateCount();
}

bool LogView::isFollowing() const {
    return follow_->isChecked();
}

void LogView::setFollowing(bool follow) {
    follow_->setChecked(follow);
}

QString LogView::shownText() const {
    QString text;
    for (int row = 0; row < model_->rowCount(); ++row) {
        const QModelIndex index = model_->index(row);
        text += index.data(LogModel::TimeRole).toString() + QLatin1Char(' ') +
                index.data(LogModel::SourceRole).toString() + QLatin1String(": ") +
                index.data(LogModel::TextRole).toString() + QLatin1Char('\n');
    }
    return text;
}

void LogView::refilter() {
    QString text = filter_->text();
    const bool regex =
        text.size() > 2 && text.startsWith(QLatin1Char('/')) && text.endsWith(QLatin1Char('/'));
    if (regex) {
        text = text.mid(1, text.size() - 2);
    }
    model_->setFilter(static_cast<LogLevel>(levels_->currentIndex()), text, regex);
    setInvalid(filter_, !model_->isFilterValid());
    updateCount();
}

void LogView::updateCount() {
    if (model_->isFiltering()) {
        count_->setText(tr("filtering…"));
        return;
    }
    const int shown = model_->rowCount();
    const int all = model_->totalCount();
    count_->setText(shown == all ? tr("%1 lines").arg(formatCount(all))
                                 : tr("%1 of %2 lines").arg(formatCount(shown), formatCount(all)));
}

void LogView::copyShown() const {
    QGuiApplication::clipboard()->setText(shownText());
}

} // namespace weft::widgets
