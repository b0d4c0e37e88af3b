// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/rules/batch_row.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QToolTip>

#include <cstdlib>
#include <limits>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

} // namespace

BatchRow::BatchRow(QWidget* parent) : QWidget(parent) {
    setObjectName("meshBatch");
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    addSign(*row, tr("Batch"));
    samples_ = addBox(*row, "batchSamples", tr("Samples an update"),
                      tr("Samples of one update, over all devices"));
    addSign(*row, tr("= micro"));
    micro_ = addBox(*row, "batchMicro", tr("Micro batch"),
                    tr("Samples that a data shard takes in one forward and backward"));
    addSign(*row, tr("× accumulate"));
    steps_ = addBox(*row, "batchAccumulation", tr("Gradient accumulation"),
                    tr("Forwards and backwards before each update; microbatches of a pipeline"));
    shards_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    shards_->setObjectName("batchShards");
    shards_->setToolTip(tr("Data shards: devices along the axes that split the batch"));
    row->addWidget(shards_);
    setEnabled(false); // until there is a configuration
    connect(samples_, &BatchBox::wanted, this, [this](int samples) {
        apply(samples_, withSamples(*config_, samples),
              tr("%n sample(s) an update", nullptr, samples));
    });
    connect(micro_, &BatchBox::wanted, this, [this](int micro) {
        apply(micro_, withMicroBatch(*config_, micro), tr("micro batch %1").arg(micro));
    });
    connect(steps_, &BatchBox::wanted, this, [this](int steps) {
        apply(steps_, withAccumulation(*config_, steps), tr("accumulation %1").arg(steps));
    });
}

BatchBox* BatchRow::addBox(QLayout& row, const char* object_name, const QString& name,
                           const QString& help) {
    auto* box = new BatchBox;
    box->setObjectName(object_name);
    box->setAccessibleName(name);
    box->setToolTip(help);
    box->setRange(1, std::numeric_limits<int>::max());
    box->setKeyboardTracking(false);
    connect(box, &QSpinBox::valueChanged, box, &BatchBox::wanted);
    row.addWidget(box);
    return box;
}

void BatchRow::addSign(QLayout& row, const QString& text) {
    row.addWidget(new TextLabel(text, TextStyle::Caption, Role::Muted));
}

void BatchRow::setConfig(const compile::RunConfig& config) {
    if (!config_ || config_->document != config.document) {
        config_ = std::make_shared<const compile::RunConfig>(config);
        setEnabled(true);
        const auto divisor = [batch = compile::plan_batch(config)](std::int64_t from, bool up) {
            return nextDivisor(batch, from, up);
        };
        micro_->next = divisor;
        steps_->next = divisor;
        samples_->next = [step = samplesStep(config)](std::int64_t from, bool up) {
            return up ? (from / step + 1) * step : std::max(step, (from - 1) / step * step);
        };
        show();
    }
}

void BatchRow::show() {
    const compile::BatchPlan batch = compile::plan_batch(*config_);
    const std::pair<BatchBox*, std::int64_t> values[] = {{samples_, batch.global_batch_size},
                                                         {micro_, batch.micro_batch_size},
                                                         {steps_, batch.accumulation_steps}};
    for (const auto& [box, value] : values) {
        const QSignalBlocker quiet(box);
        box->known = value;
        box->setValue(static_cast<int>(value));
        widgets::setInvalid(box, false);
    }
    const bool uneven = batch.global_batch_size % batch.data_ranks != 0;
    shards_->setText(tr("× %n shard(s)", nullptr, static_cast<int>(batch.data_ranks)));
    emit told(uneven ? tr("The batch of %1 does not divide: some shards take one sample less")
                           .arg(formatCount(batch.global_batch_size))
                     : QString());
}

void BatchRow::apply(BatchBox* box, const BatchOutcome& outcome, const QString& what) {
    if (box->value() == box->known) {
        show(); // back to what is
        return;
    }
    widgets::setInvalid(box, !outcome.problem.isEmpty());
    emit told(outcome.problem);
    if (!outcome.problem.isEmpty()) {
        QToolTip::showText(box->mapToGlobal(QPoint(0, box->height())), outcome.problem, box);
    }
    if (outcome.problem.isEmpty()) {
        emit adopted(outcome.assignments, what);
    }
}

void BatchBox::stepBy(int steps) {
    std::int64_t number = value();
    for (int i = 0; i < std::abs(steps); ++i) {
        number = next(number, steps > 0);
    }
    setValue(static_cast<int>(number));
}

QAbstractSpinBox::StepEnabled BatchBox::stepEnabled() const {
    const std::int64_t number = value();
    return (next && next(number, true) != number ? StepUpEnabled : StepNone) |
           (next && next(number, false) != number ? StepDownEnabled : StepNone);
}

} // namespace weft::ui
