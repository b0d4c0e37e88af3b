// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/compare_dialog.h"

#include "ui/bridge/convert.h"
#include "ui/bridge/run/run_facts.h"
#include "ui/models/array_compare_model.h"
#include "ui/pages/table.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QDialogButtonBox>
#include <QHeaderView>
#include <QSortFilterProxyModel>
#include <QTableView>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kCompareDialogWatchMs = 100;
constexpr int kCompareDialogMostLines = 12;

QString settings_text(const CheckpointRow& a, const CheckpointRow& b) {
    const config::Json* both[] = {&a.record.config, &b.record.config};
    QStringList lines;
    for (const VaryingSetting& setting : varyingSettings(both)) {
        lines << setting.path + "   " + setting.values[0] + " → " + setting.values[1];
    }
    const qsizetype all = lines.size();
    if (all > kCompareDialogMostLines) {
        lines = lines.mid(0, kCompareDialogMostLines);
        lines << QObject::tr("and %1 more").arg(all - kCompareDialogMostLines);
    }
    return lines.isEmpty() ? QObject::tr("The settings are the same.") : lines.join("\n");
}

} // namespace

CompareDialog::CompareDialog(const CheckpointRow& a, const CheckpointRow& b, QWidget* parent)
    : QDialog(parent) {
    setObjectName("compareDialog");
    setWindowTitle(tr("A: step %1, B: step %2").arg(formatCount(a.step), formatCount(b.step)));
    resize(880, 600); // long names of arrays stand whole
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(16, 16, 16, 16);
    column->setSpacing(widgets::space::kControl);
    const auto add = [&](const QString& text, widgets::TextStyle style, widgets::Role role) {
        auto* label = new widgets::TextLabel(text, style, role);
        label->setWordWrap(true);
        label->setTextInteractionFlags(Qt::TextSelectableByMouse);
        column->addWidget(label);
        return label;
    };
    add(tr("Settings"), widgets::TextStyle::Strong, widgets::Role::Text);
    settings_ = add(settings_text(a, b), widgets::TextStyle::Mono, widgets::Role::Muted);
    settings_->setObjectName("compareSettings");
    add(tr("Counters, random keys and place in the data"), widgets::TextStyle::Strong,
        widgets::Role::Text);
    counters_ = add({}, widgets::TextStyle::Mono, widgets::Role::Muted);
    counters_->setObjectName("compareCounters");
    verdict_ = add(tr("Reading the arrays …"), widgets::TextStyle::Strong, widgets::Role::Text);
    verdict_->setObjectName("compareVerdict");
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Comparing"));
    progress_->setProgress(0);
    column->addWidget(progress_);
    model_ = new ArrayCompareModel(this);
    auto* sorted = new QSortFilterProxyModel(this);
    sorted->setSourceModel(model_);
    sorted->setSortRole(ArrayCompareModel::kSortRole);
    table_ = createTable(sorted, "compareTable", tr("Arrays that differ"));
    table_->setFrameShape(QFrame::StyledPanel); // no panel is around it
    table_->setSortingEnabled(true);
    table_->sortByColumn(ArrayCompareModel::NormDifference, Qt::DescendingOrder);
    table_->setTextElideMode(Qt::ElideMiddle);
    table_->horizontalHeader()->setSectionResizeMode(QHeaderView::ResizeToContents);
    table_->horizontalHeader()->setSectionResizeMode(ArrayCompareModel::Name, QHeaderView::Stretch);
    column->addWidget(table_, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Close);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);

    watch_.setInterval(kCompareDialogWatchMs);
    connect(&watch_, &QTimer::timeout, this, [this] { progress_->setProgress(job_.share()); });
    watch_.start();
    struct Outcome {
        checkpoint::Difference difference;
        QString problem;
    };
    runInBackground(
        this,
        [left = a.path, right = b.path, job = job_]() -> Outcome {
            try {
                return {checkpoint::compare(checkpoint::read_manifest(left),
                                            checkpoint::read_manifest(right), job.progress()),
                        {}};
            } catch (const LongJob::Stopped&) {
                return {}; // the dialog is closed
            } catch (const std::exception& fault) {
                return {{}, faultText(fault)};
            }
        },
        [this](const Outcome& outcome) { take(outcome.difference, outcome.problem); },
        longJobPool());
}

CompareDialog::~CompareDialog() {
    job_.stop();
}

void CompareDialog::take(const checkpoint::Difference& difference, const QString& problem) {
    done_ = true;
    watch_.stop();
    progress_->hide();
    if (!problem.isEmpty()) {
        verdict_->setText(problem);
        verdict_->setRole(widgets::Role::Error);
        return;
    }
    QStringList counters;
    for (const std::string& counter : difference.counters) {
        counters << toQString(counter);
    }
    counters_->setText(counters.isEmpty() ? tr("They are the same.") : counters.join("\n"));
    verdict_->setText(difference.tensors.empty() ? tr("Every array is the same, bit for bit")
                                                 : tr("%n different array(s)", nullptr,
                                                      static_cast<int>(difference.tensors.size())));
    model_->setDifferences(difference.tensors);
}

} // namespace weft::ui
