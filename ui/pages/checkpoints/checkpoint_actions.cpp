// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/checkpoint_actions.h"

#include "core/train/export/export_model.h"
#include "core/train/progress.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/checkpoints/checkpoint_trash_dialog.h"
#include "ui/pages/checkpoints/compare_dialog.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/look/icon.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QMenu>
#include <QPushButton>
#include <QUrl>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kCheckpointActionsWatchMs = 100;
constexpr int kProgressWidth = 96;

bool usable(const CheckpointRow& row) {
    return row.on_disk && row.looked_into && row.problem.empty();
}

/// "ONNX: the model with its weights …"
QString exportTitle(const train::ExportFormat& format) {
    return QStringLiteral("%1 – %2").arg(toQString(format.name), toQString(format.help));
}

} // namespace

CheckpointActions::CheckpointActions(QWidget* parent) : QWidget(parent) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Progress"));
    progress_->setFixedWidth(kProgressWidth);
    progress_->hide();
    row->addWidget(progress_, 0, Qt::AlignVCenter);
    stop_ = addButton("stopCheckpointJob", tr("Stop"), tr("Ends the work under way"));
    stop_->hide();
    connect(stop_, &QPushButton::clicked, this, [this] { job_.stop(); });
    compare_ = addButton("compareCheckpoints", tr("Compare…"),
                         tr("Select two: settings and arrays beside each other"));
    connect(compare_, &QPushButton::clicked, this, &CheckpointActions::compare);
    verify_ = addButton("verifyCheckpoint", tr("Verify"),
                        tr("Read the selected checkpoint and check every checksum"));
    connect(verify_, &QPushButton::clicked, this, &CheckpointActions::verify);
    export_ =
        addButton("exportCheckpoint", tr("Export…"), tr("Write the weights for another program"));
    QMenu* formats = createExportMenu();
    connect(export_, &QPushButton::clicked, formats, [this, formats] {
        formats->popup(export_->mapToGlobal(QPoint(0, export_->height() + widgets::space::kTight)));
    });
    more_ = addButton("moreCheckpoint", {}, tr("More"));
    more_->setIcon(widgets::icon("more"));
    more_->setAccessibleName(tr("More"));
    auto* menu = new QMenu(more_);
    pin_ = menu->addAction(widgets::icon("pin"), tr("Pin"));
    pin_->setObjectName("pinCheckpoint");
    connect(pin_, &QAction::triggered, this, [this] { pin(!rows_.front().pinned); });
    reveal_ = menu->addAction(widgets::icon("folder"), tr("Show in the file manager"));
    connect(reveal_, &QAction::triggered, this, &CheckpointActions::reveal);
    menu->addSeparator();
    trash_ = menu->addAction(widgets::icon("trash"), tr("Move to trash…"));
    trash_->setObjectName("trashCheckpoint");
    connect(trash_, &QAction::triggered, this, &CheckpointActions::remove);
    connect(more_, &QPushButton::clicked, menu, [this, menu] {
        menu->popup(more_->mapToGlobal(QPoint(0, more_->height() + widgets::space::kTight)));
    });
    for (QAction* action : menu->actions()) {
        addAction(action); // found by tests and by the keyboard
    }
    watch_.setInterval(kCheckpointActionsWatchMs);
    connect(&watch_, &QTimer::timeout, this, [this] { progress_->setProgress(job_.share()); });
    update();
}

CheckpointActions::~CheckpointActions() {
    job_.stop();
}

QPushButton* CheckpointActions::addButton(const QString& name, const QString& text,
                                          const QString& tooltip) {
    auto* button = new QPushButton(text);
    button->setObjectName(name);
    button->setToolTip(tooltip);
    widgets::setCompact(button);
    layout()->addWidget(button);
    return button;
}

void CheckpointActions::setChosen(std::vector<CheckpointRow> rows) {
    rows_ = std::move(rows);
    update();
}

void CheckpointActions::update() {
    const bool one = rows_.size() == 1 && usable(rows_.front());
    const bool on_disk = std::any_of(rows_.begin(), rows_.end(),
                                     [](const CheckpointRow& row) { return row.on_disk; });
    compare_->setEnabled(!busy_ && rows_.size() == 2 && usable(rows_[0]) && usable(rows_[1]));
    verify_->setEnabled(!busy_ && one);
    export_->setEnabled(!busy_ && one);
    pin_->setEnabled(!busy_ && one);
    pin_->setText(one && rows_.front().pinned ? tr("Unpin") : tr("Pin: never removed"));
    reveal_->setEnabled(rows_.size() == 1 && on_disk);
    trash_->setEnabled(!busy_ && on_disk);
    progress_->setVisible(busy_);
    stop_->setVisible(busy_);
}

void CheckpointActions::start(const std::function<Answer(const checkpoint::Progress&)>& work,
                              bool changes) {
    busy_ = true;
    job_ = LongJob();
    progress_->setProgress(0);
    watch_.start();
    update();
    runInBackground(
        this,
        [work, job = job_]() -> Answer {
            try {
                return work(job.progress());
            } catch (const LongJob::Stopped&) {
                return {true, tr("Stopped")};
            } catch (const std::exception& fault) {
                return {false, faultText(fault)};
            }
        },
        [this, changes](const Answer& answer) {
            busy_ = false;
            watch_.stop();
            update();
            if (!answer.trashed.empty()) {
                emit trashed(answer.trashed);
            }
            if (!answer.text.isEmpty()) {
                emit said(static_cast<int>(answer.good ? widgets::MessageKind::Success
                                                       : widgets::MessageKind::Error),
                          answer.text);
            }
            if (changes) {
                emit changed();
            }
        },
        longJobPool());
}

void CheckpointActions::compare() {
    auto* dialog = new CompareDialog(rows_[0], rows_[1], window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->open();
}

void CheckpointActions::verify() {
    const auto path = rows_.front().path;
    const QString step = formatCount(rows_.front().step);
    start(
        [path, step](const checkpoint::Progress& progress) -> Answer {
            const std::vector<std::string> problems = train::verify_checkpoint(path, progress);
            return problems.empty()
                       ? Answer{true, tr("Step %1: every checksum is right").arg(step)}
                       : Answer{false, tr("Step %1: %2").arg(step, toQString(problems.front()))};
        },
        false);
}

QMenu* CheckpointActions::createExportMenu() {
    auto* menu = new QMenu(export_);
    menu->setObjectName("exportFormats");
    menu->setToolTipsVisible(true);
    for (const train::ExportFormat& format : train::kExportFormats) {
        QAction* action = menu->addAction(exportTitle(format));
        action->setObjectName("export." + toQString(format.name));
        action->setToolTip(toQString(format.help));
        connect(action, &QAction::triggered, this, [this, &format] { chooseExport(format); });
    }
    return menu;
}

void CheckpointActions::chooseExport(const train::ExportFormat& format) {
    const auto asked = rows_.front(); // what is chosen may change while the dialog is open
    const QString ending = toQString(format.ending);
    const QString file = askForPlace(
        this,
        {tr("Export the weights"), FileUse::Export,
         ending.isEmpty() ? QString() : QString("%1 (*%2)").arg(toQString(format.name), ending),
         QString("step-%1%2").arg(asked.step).arg(ending)});
    if (!file.isEmpty()) {
        exportTo(asked.path, file, std::string(format.name));
    }
}

// Who chose a file that is there was asked about it; folders are never replaced.
void CheckpointActions::exportTo(const std::filesystem::path& path, const QString& file,
                                 const std::string& format) {
    const bool replaces = QFileInfo(file).isFile();
    start(
        [path, file, format, replaces](const checkpoint::Progress& progress) -> Answer {
            const checkpoint::Manifest manifest = checkpoint::read_manifest(path);
            const auto remarks = train::export_model(
                manifest, {.to = toPath(file), .as = format, .replaces = replaces}, progress);
            QStringList said = {tr("The weights are in %1.").arg(file)};
            for (const std::string& remark : remarks) {
                said << toQString(remark);
            }
            return {true, said.join(QLatin1Char(' '))};
        },
        false);
}

void CheckpointActions::pin(bool pinned) {
    const auto path = rows_.front().path;
    const QString step = formatCount(rows_.front().step);
    start(
        [path, step, pinned](const checkpoint::Progress&) -> Answer {
            checkpoint::set_pinned(checkpoint::read_manifest(path), pinned);
            return {true, pinned ? tr("Step %1 is kept whatever retention says").arg(step)
                                 : tr("Step %1 is not pinned any more").arg(step)};
        },
        true);
}

void CheckpointActions::reveal() {
    QDesktopServices::openUrl(QUrl::fromLocalFile(pathText(rows_.front().path)));
}

void CheckpointActions::remove() {
    auto* dialog = new CheckpointTrashDialog(rows_, window());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    connect(dialog, &QDialog::accepted, this, [this, dialog] { trash(dialog->folders()); });
    dialog->open();
}

void CheckpointActions::trash(const std::vector<std::filesystem::path>& folders) {
    start(
        [folders](const checkpoint::Progress& progress) -> Answer {
            Answer answer;
            for (const std::filesystem::path& folder : folders) {
                const Trashed one = trashCheckpoint(folder);
                if (!one.problem.isEmpty()) {
                    answer.good = false;
                    answer.text = one.problem;
                    break;
                }
                answer.trashed.push_back(one);
                try {
                    progress(static_cast<double>(answer.trashed.size()) /
                             static_cast<double>(folders.size()));
                } catch (const LongJob::Stopped&) {
                    break; // what went so far can be brought back
                }
            }
            return answer;
        },
        true);
}

// Beside whatever is being worked on: it touches nothing that is there.
void CheckpointActions::bringBack(const std::vector<Trashed>& checkpoints) {
    runInBackground(
        this, [checkpoints] { return ui::bringBack(checkpoints); },
        [this, count = static_cast<int>(checkpoints.size())](const QString& problem) {
            const bool good = problem.isEmpty();
            emit said(static_cast<int>(good ? widgets::MessageKind::Success
                                            : widgets::MessageKind::Error),
                      good ? tr("%n checkpoint(s) brought back from the trash", nullptr, count)
                           : problem);
            emit changed();
        });
}

} // namespace weft::ui
