// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/status_bar.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "core/base/machine.h"
#include "ui/actions.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/studio.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPainter>
#include <QPushButton>

namespace weft::ui {
namespace {

constexpr int kItems = 7;
constexpr int kRefreshMs = 250;
constexpr int kDiskEveryTicks = 40;

QString machineText() {
    const Machine machine = read_machine();
    const auto& sets = machine.sets;
    const QString unit = sets.amx_bf16      ? QStringLiteral("AMX bf16")
                         : sets.avx512_bf16 ? QStringLiteral("AVX-512 bf16")
                         : sets.avx512f     ? QStringLiteral("AVX-512")
                         : sets.avx2        ? QStringLiteral("AVX2")
                                            : QStringLiteral("SSE");
    return (machine.usable_cores == 1 ? QObject::tr("1 core")
                                      : QObject::tr("%1 cores").arg(machine.usable_cores)) +
           " · " + unit;
}

QString diskText(const std::filesystem::path& root) {
    for (std::filesystem::path path = root; !path.empty(); path = path.parent_path()) {
        try {
            return QObject::tr("disk %1 free").arg(formatFileSize(disk_free_bytes(path)));
        } catch (const Error&) {
            if (path == path.parent_path()) {
                break; // the root itself cannot be asked
            }
        }
    }
    return {};
}

QString tipOf(const QString& page) {
    return page == "plan"          ? QObject::tr("Show Mesh & Plan")
           : page == "checkpoints" ? QObject::tr("Show Checkpoints")
                                   : QObject::tr("Show Train");
}

} // namespace

StatusBar::StatusBar(Studio& studio, Actions& actions, QWidget* parent)
    : QWidget(parent), studio_(studio) {
    setFixedHeight(widgets::size::kStatusBarHeight);
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(widgets::space::kGroup, 0, widgets::space::kGroup, 0);
    row->setSpacing(widgets::space::kControl);
    state_ = new widgets::StatePill;
    row->addWidget(state_);
    connect(state_, &widgets::StatePill::clicked, this, [this] { emit pageRequested("train"); });
    for (int i = 0; i < kItems; ++i) {
        auto* button = new QPushButton;
        widgets::setButtonKind(button, widgets::ButtonKind::Flat);
        widgets::setCompact(button);
        widgets::setTextStyle(button, widgets::TextStyle::MonoSmall);
        button->setFocusPolicy(Qt::NoFocus);
        button->setMinimumWidth(1);
        button->installEventFilter(this);
        connect(button, &QPushButton::clicked, this,
                [this, i] { emit pageRequested(items_[static_cast<std::size_t>(i)].page); });
        items_.push_back({button, "train"});
        row->addWidget(button);
    }
    row->addStretch(1);
    const auto dock_button = [&](const char* id) {
        QAction* action = actions.get(id);
        auto* button = new QPushButton(action->icon(), action->text());
        widgets::setButtonKind(button, widgets::ButtonKind::Flat);
        widgets::setCompact(button);
        connect(button, &QPushButton::clicked, action, &QAction::trigger);
        button->setToolTip(action->toolTip());
        row->addWidget(button);
        return button;
    };
    dock_button(action::kSystem);
    problems_ = dock_button(action::kProblems);
    console_ = dock_button(action::kConsole);
    setProblemCount(0, 0);

    timer_.setInterval(kRefreshMs);
    connect(&timer_, &QTimer::timeout, this, &StatusBar::refresh);
    timer_.start();
    connect(&studio_.run(), &RunModel::stateChanged, this, &StatusBar::refresh);
    connect(&studio_, &Studio::trainingChanged, this, &StatusBar::refresh);
    runInBackground(
        this,
        [root = studio_.paths().runs_root] { return std::pair(machineText(), diskText(root)); },
        [this](const std::pair<QString, QString>& texts) {
            machine_ = texts.first;
            disk_ = texts.second;
            refresh();
        });
    refresh();
}

void StatusBar::setProblemCount(int errors, int warnings) {
    problems_->setText(tr("Problems %1").arg(errors + warnings));
    problems_->setIcon(widgets::icon("problems", errors > 0     ? widgets::Role::Error
                                                 : warnings > 0 ? widgets::Role::Warning
                                                                : widgets::Role::Muted));
}

// What fills the disk is checkpoints; what this machine can do is what plans are made for.
std::vector<StatusBar::Said> StatusBar::idleTexts() const {
    return {{studio_.run().isEmpty() ? tr("no run") : studio_.run().name()},
            {machine_, "plan"},
            {disk_, "checkpoints"}};
}

std::vector<StatusBar::Said> StatusBar::runTexts() const {
    const RunModel& run = studio_.run();
    std::vector<Said> said;
    said.push_back(
        {run.totalSteps() > 0
             ? tr("step %1 / %2").arg(formatCount(run.step()), formatCount(run.totalSteps()))
             : tr("step %1").arg(formatCount(run.step()))});
    said.push_back({tr("epoch %1").arg(run.lastStep().epoch, 0, 'f', 2)});
    const auto validation = run.lastMetric("validation/loss");
    // A fork that has just begun stands at a step without having taken one.
    said.push_back({run.steps().loss.empty()
                        ? QString()
                        : tr("loss %1").arg(formatMetric(run.lastStep().loss)) +
                              (validation ? " / " + formatMetric(*validation) : QString())});
    const RunModel::Speed speed = run.speed();
    said.push_back({speed.per_second > 0
                        ? (speed.tokens ? tr("%1 tokens/s") : tr("%1 samples/s"))
                              .arg(formatCount(static_cast<std::int64_t>(speed.per_second)))
                        : QString()});
    const double left = run.secondsLeft();
    said.push_back({left >= 0 ? tr("%1 left").arg(formatDuration(left)) : QString()});
    said.push_back({run.plan() ? tr("arena %1").arg(widgets::formatMemory(run.plan()->arena_bytes))
                               : QString(),
                    "plan"});
    said.push_back({disk_, "checkpoints"});
    return said;
}

void StatusBar::refresh() {
    if (++ticks_ % kDiskEveryTicks == 0) {
        runInBackground(
            this, [root = studio_.paths().runs_root] { return diskText(root); },
            [this](const QString& text) { disk_ = text; });
    }
    const bool training = studio_.isTraining();
    state_->setState(training ? toWidget(studio_.run().state()) : widgets::RunState::Idle);
    setItems(training && studio_.run().step() > 0 ? runTexts() : idleTexts());
}

void StatusBar::setItems(const std::vector<Said>& said) {
    bool changed = false;
    for (std::size_t i = 0; i < items_.size(); ++i) {
        const Said now = i < said.size() ? said[i] : Said{};
        Item& item = items_[i];
        const QString text = widgets::menuText(now.text); // of a run's name
        if (item.button->text() == text && item.page == now.page) {
            continue;
        }
        item.button->setText(text);
        item.page = now.page;
        item.button->setToolTip(tipOf(item.page));
        changed = true;
    }
    if (changed) {
        fitItems();
    }
}

// Items go from the end when there is no room; numbers are never cut.
void StatusBar::fitItems() {
    int room = width() - state_->sizeHint().width() - problems_->sizeHint().width() -
               console_->sizeHint().width() - 72;
    for (const Item& item : items_) {
        const int wanted = item.button->sizeHint().width() + widgets::space::kControl;
        room -= wanted;
        item.button->setVisible(!item.button->text().isEmpty() && room >= 0);
    }
    placeTabStop();
}

// The item that had it last, or the first one.
void StatusBar::placeTabStop() {
    if (items_[stop_].button->isHidden()) {
        stop_ = 0;
    }
    for (std::size_t i = 0; i < items_.size(); ++i) {
        items_[i].button->setFocusPolicy(i == stop_ ? Qt::TabFocus : Qt::NoFocus);
    }
}

void StatusBar::moveFocus(int direction) {
    const int count = static_cast<int>(items_.size());
    for (int i = static_cast<int>(stop_) + direction; i >= 0 && i < count; i += direction) {
        if (!items_[static_cast<std::size_t>(i)].button->isHidden()) {
            stop_ = static_cast<std::size_t>(i);
            placeTabStop();
            items_[stop_].button->setFocus(Qt::TabFocusReason);
            return;
        }
    }
}

bool StatusBar::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress) {
        const int key = static_cast<QKeyEvent*>(event)->key();
        if (key == Qt::Key_Left || key == Qt::Key_Right) {
            moveFocus((key == Qt::Key_Right) == (layoutDirection() == Qt::LeftToRight) ? 1 : -1);
            return true;
        }
    }
    return QWidget::eventFilter(watched, event);
}

void StatusBar::resizeEvent(QResizeEvent* event) {
    QWidget::resizeEvent(event);
    fitItems();
}

void StatusBar::paintEvent(QPaintEvent*) {
    QPainter painter(this);
    const widgets::Theme& theme = widgets::Theme::current();
    painter.fillRect(rect(), theme.color(widgets::Role::Background));
    painter.fillRect(QRect(0, 0, width(), 1), theme.color(widgets::Role::Hairline));
}

} // namespace weft::ui
