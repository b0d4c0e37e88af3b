// SPDX-License-Identifier: GPL-3.0-or-later
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/command_palette.h"
#include "widgets/controls/log_view.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/phase_list.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::gallery {

using namespace widgets;

namespace {

QWidget* makeBanners() {
    auto* holder = new QWidget;
    auto* layout = new QVBoxLayout(holder);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    auto* info = new Banner(MessageKind::Info);
    info->setIconName(QStringLiteral("fork"));
    info->setText(QStringLiteral("Draft gpt-6x384"),
                  QStringLiteral("edits here never touch the running fashion-cnn-004"));
    info->addButton(QStringLiteral("Compare"), true);
    info->addButton(QStringLiteral("Queue after this run"));
    layout->addWidget(info);
    auto* warning = new Banner(MessageKind::Warning);
    warning->setText(QStringLiteral("Decay 0.1 also reaches wte and wpe"),
                     QStringLiteral("most recipes exempt embeddings"));
    warning->addButton(QStringLiteral("Add group"));
    layout->addWidget(warning);
    auto* error = new Banner(MessageKind::Error);
    error->setText(QStringLiteral("Step 1,207: loss became NaN"),
                   QStringLiteral("on device 2 after a gradient norm of 3.1e4. Last good "
                                  "checkpoint: step 1,200."));
    error->addButton(QStringLiteral("Resume from 1,200 with half the rate"));
    error->setClosable(true);
    layout->addWidget(error);
    return holder;
}

PhaseList* makePhases() {
    auto* list = new PhaseList;
    list->setPhases({{QStringLiteral("Checking the configuration"), {}, PhaseState::Done, 0.1},
                     {QStringLiteral("Reading data"), QStringLiteral("54,000 images"),
                      PhaseState::Done, 0.6},
                     {QStringLiteral("Compiling"), QStringLiteral("128 operations"),
                      PhaseState::Active, 0.0},
                     {QStringLiteral("First step"), {}, PhaseState::Waiting, -1.0}});
    return list;
}

LogView* makeLog() {
    auto* log = new LogView;
    std::vector<LogLine> lines;
    for (int i = 0; i < 60; ++i) {
        const LogLevel level = i % 17 == 11   ? LogLevel::Error
                               : i % 11 == 5  ? LogLevel::Warning
                               : i % 7 == 3   ? LogLevel::Debug
                                              : LogLevel::Info;
        lines.push_back({1732200000000LL + i * 217, level, QStringLiteral("train"),
                         QStringLiteral("step %1: loss 0.%2, gradient norm 0.58, 108 ms")
                             .arg(1200 + i)
                             .arg(412 - i),
                         1200 + i});
    }
    log->append(std::move(lines));
    log->flush();
    return log;
}

QWidget* makePalette() {
    auto* palette = new CommandPalette;
    palette->setWindowFlags(Qt::Widget);
    QList<QAction*> actions;
    const auto add = [&](const char* text, const char* icon_name, const char* keys,
                         bool enabled = true) {
        auto* action = new QAction(icon(QString::fromLatin1(icon_name)), QString::fromUtf8(text),
                                   palette);
        action->setShortcut(QKeySequence(QString::fromLatin1(keys)));
        action->setEnabled(enabled);
        actions.append(action);
    };
    add("Start the run", "play", "F5", false);
    add("Pause", "pause", "F6");
    add("Run one step", "step", "F7");
    add("Checkpoint now", "checkpoint", "F8");
    add("Stop and save", "stop", "Shift+F5");
    add("Go to Checkpoints", "checkpoints", "Ctrl+7");
    add("Open run or checkpoint…", "folder", "Ctrl+O");
    palette->setActions(actions);
    palette->setFixedSize(440, 300);
    return palette;
}

} // namespace

QWidget* makeMessagesPage() {
    auto* page = new Surface(Role::Surface);
    auto* layout = new QVBoxLayout(page);
    layout->setContentsMargins(0, 0, 0, 0);
    layout->setSpacing(0);
    layout->addWidget(makeBanners());
    auto* row = new QHBoxLayout;
    row->setContentsMargins(24, 24, 24, 24);
    row->setSpacing(24);
    auto* empty = new EmptyState(QStringLiteral("data"), QStringLiteral("No data chosen"),
                                 QStringLiteral("Pick a built-in set, or drop a file or folder "
                                                "anywhere in this window."));
    empty->addButton(QStringLiteral("Choose data…"));
    empty->addButton(QStringLiteral("Use Fashion-MNIST"), false);
    row->addWidget(empty, 1);
    row->addWidget(makePhases(), 1, Qt::AlignVCenter);
    row->addWidget(makePalette());
    layout->addLayout(row, 1);
    layout->addWidget(new Hairline);
    layout->addWidget(makeLog(), 1);
    auto* toasts = new ToastHost(page);
    auto* open = new QAction(QStringLiteral("Open"), page);
    toasts->show(MessageKind::Success,
                 QStringLiteral("fashion-cnn-004 finished: validation accuracy 0.908"), open);
    toasts->show(MessageKind::Warning,
                 QStringLiteral("214 GB free in the run folder; 40 checkpoints need 5.2 GB"));
    return page;
}

} // namespace weft::gallery
