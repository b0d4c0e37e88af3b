// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/data/scan_panel.h"

#include "core/base/error.h"
#include "ui/bridge/convert.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QListWidget>
#include <QPointer>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kSplitRole = Qt::UserRole;
constexpr int kIndexRole = Qt::UserRole + 1;
constexpr int kListHeight = 160;

DataSplit splitOf(const std::string& name) {
    return name == "test"         ? DataSplit::Test
           : name == "validation" ? DataSplit::Validation
                                  : DataSplit::Train;
}

} // namespace

ScanPanel::ScanPanel(DataPreview& preview, QWidget* parent) : QWidget(parent), preview_(preview) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Integrity"));
    button_ = new QPushButton(tr("Scan"));
    button_->setObjectName("scanData");
    widgets::setCompact(button_);
    connect(button_, &QPushButton::clicked, this, [this] { job_.isRunning() ? stop() : start(); });
    header_->addControl(button_);
    column->addWidget(header_);
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Scan"));
    column->addWidget(progress_);
    auto* room = new QVBoxLayout;
    room->setContentsMargins(12, 8, 12, 12);
    room->setSpacing(widgets::space::kControl);
    verdict_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    verdict_->setObjectName("scanVerdict");
    verdict_->setWordWrap(true);
    room->addWidget(verdict_);
    list_ = new QListWidget;
    list_->setObjectName("scanList");
    list_->setAccessibleName(tr("Samples with a fault"));
    list_->setFrameShape(QFrame::NoFrame);
    list_->setWordWrap(true);
    list_->setMaximumHeight(kListHeight);
    list_->hide();
    connect(list_, &QListWidget::itemActivated, this, [this](const QListWidgetItem* item) {
        emit sampleChosen(static_cast<DataSplit>(item->data(kSplitRole).toInt()),
                          item->data(kIndexRole).toLongLong());
    });
    room->addWidget(list_);
    column->addLayout(room);
    connect(&preview_, &DataPreview::changed, this, &ScanPanel::update);
    update();
}

// A report is of the data that was scanned: of other data it says nothing.
void ScanPanel::update() {
    const bool ready = preview_.state() == DataPreview::State::Ready;
    button_->setEnabled(ready || job_.isRunning());
    if (!ready || preview_.section() != scanned_) {
        if (job_.isRunning()) {
            stop();
        }
        scanned_ = nullptr;
        list_->hide();
        verdict_->setRole(Role::Muted);
        verdict_->setText(tr("Reads every sample once, as training does, and looks for unreadable "
                             "ones, values that are not finite and duplicates."));
    }
}

void ScanPanel::start() {
    scanned_ = preview_.section();
    button_->setText(tr("Cancel"));
    list_->hide();
    verdict_->setRole(Role::Muted);
    verdict_->setText(tr("Scanning…"));
    progress_->setProgress(0);
    job_.start(
        [section = scanned_, context = preview_.context(),
         self = QPointer(this)](const std::stop_token& stop) {
            Outcome outcome;
            try {
                outcome.report = data::scan(
                    section, context,
                    [&](const data::ScanProgress& progress) {
                        QMetaObject::invokeMethod(
                            QCoreApplication::instance(),
                            [self, stop, progress] {
                                if (self && !stop.stop_requested()) {
                                    self->advance(progress);
                                }
                            },
                            Qt::QueuedConnection);
                    },
                    stop);
            } catch (const Error& error) {
                outcome.problem = toQString(error.message());
            }
            return outcome;
        },
        [this](const Outcome& outcome) { show(outcome); });
}

void ScanPanel::stop() {
    job_.drop();
    scanned_ = nullptr;
    button_->setText(tr("Scan"));
    progress_->setProgress(-1);
    verdict_->setText(tr("The scan was cancelled."));
}

void ScanPanel::advance(const data::ScanProgress& progress) {
    progress_->setProgress(static_cast<double>(progress.done) /
                           static_cast<double>(std::max<std::int64_t>(1, progress.total)));
    verdict_->setText(tr("Scanning %1: %2 of %3 samples")
                          .arg(toQString(progress.part), formatCount(progress.done),
                               formatCount(progress.total)));
}

void ScanPanel::show(const Outcome& outcome) {
    button_->setText(tr("Scan again"));
    progress_->setProgress(-1);
    if (!outcome.report) {
        verdict_->setRole(Role::Error);
        verdict_->setText(outcome.problem);
        return;
    }
    QStringList lines;
    for (const std::string& finding : outcome.report->findings()) {
        lines << toQString(finding);
    }
    std::int64_t samples = 0;
    for (const data::PartScan& part : outcome.report->parts) {
        samples += part.samples;
    }
    verdict_->setRole(lines.isEmpty() ? Role::Success : Role::Warning);
    verdict_->setText(
        lines.isEmpty()
            ? tr("✓ All %1 samples can be read; every value is finite.").arg(formatCount(samples))
            : lines.join('\n'));
    addBad(*outcome.report);
}

void ScanPanel::addBad(const data::ScanReport& report) {
    list_->clear();
    const auto add = [this](const std::string& split, std::int64_t index, const QString& what) {
        auto* item = new QListWidgetItem(
            tr("%1 %2: %3").arg(toQString(split), formatCount(index), what), list_);
        item->setData(kSplitRole, static_cast<int>(splitOf(split)));
        item->setData(kIndexRole, static_cast<qlonglong>(index));
    };
    for (const data::PartScan& part : report.parts) {
        for (const data::BadSample& bad : part.bad) {
            add(part.part, bad.index, toQString(bad.text));
        }
        for (const data::Duplicate& twice : part.duplicate_samples) {
            add(part.part, twice.index,
                tr("the same as %1 %2").arg(toQString(twice.part), formatCount(twice.other)));
        }
    }
    list_->setVisible(list_->count() > 0);
}

} // namespace weft::ui
