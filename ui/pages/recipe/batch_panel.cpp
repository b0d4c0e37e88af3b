// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/batch_panel.h"

#include "ui/bridge/convert.h"
#include "widgets/controls/figure_strip.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QLineEdit>
#include <QVBoxLayout>

#include <cmath>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kDerivedWidth = 60; // at least

/// "81.9 M", "16,384".
QString shortCount(double value) {
    static constexpr std::pair<double, const char*> kUnits[] = {
        {1e12, " T"}, {1e9, " G"}, {1e6, " M"}};
    for (const auto& [size, unit] : kUnits) {
        if (value >= size) {
            return QString::number(value / size, 'f', value >= 100 * size ? 0 : 1) + unit;
        }
    }
    return formatCount(std::llround(value));
}

QWidget* sign(const QString& text) {
    auto* label = new TextLabel(text, TextStyle::Strong, Role::Muted);
    label->setAlignment(Qt::AlignHCenter | Qt::AlignTop);
    // Level with the boxes, which stand below a line of names.
    label->setContentsMargins(0, QFontMetrics(label->font()).height() + widgets::space::kTight, 0,
                              0);
    return label;
}

/// On the same line as its sign.
QWidget* factorBox(QWidget* number) {
    auto* whole = new QWidget;
    auto* row = new QHBoxLayout(whole);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kGroup);
    row->addWidget(sign("×"));
    row->addWidget(number);
    return whole;
}

} // namespace

BatchPanel::BatchPanel(FormSource& source, RunOutlook& outlook, QWidget* parent)
    : QWidget(parent), source_(source), outlook_(outlook), equation_(new FieldGroup(source)),
      figures_(new widgets::FigureStrip),
      problem_(new TextLabel({}, TextStyle::Caption, Role::Warning)) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kGroup);
    const auto field = [&](const std::string& pointer, const QString& remark) {
        FieldBox* box = equation_->add(*source_.field(pointer), pointer);
        box->hideUnit(); // the section's head says it
        box->setRemark(remark);
    };
    equation_->setSpread();
    field("/training/global_batch_size", tr("over all devices"));
    equation_->add(sign("="));
    field("/training/micro_batch_size", {});
    equation_->add(
        factorBox(derived(tr("data ranks"), tr("from the mesh"), "derivedRanks", ranks_)));
    equation_->add(factorBox(
        derived(tr("accumulation"), tr("derived"), "derivedAccumulation", accumulation_)));
    column->addWidget(equation_);
    figures_->setObjectName("batchFigures");
    figures_->setAccessibleName(tr("What the batch and the length come to"));
    column->addWidget(figures_);
    problem_->setWordWrap(true);
    problem_->hide();
    column->addWidget(problem_);
    auto* length = new FieldGroup(
        source_, std::vector<std::string>{"/training/length", "/training/log_every", "/seed"});
    length->box("/training/log_every")->hideUnit(); // all three on one line
    column->addWidget(length);
    connect(&source_, &FormSource::changed, this, &BatchPanel::refresh);
    connect(&outlook_, &RunOutlook::changed, this, &BatchPanel::refreshFigures);
    refresh();
}

QWidget* BatchPanel::derived(const QString& name, const QString& remark, const QString& id,
                             QLineEdit*& edit) {
    auto* whole = new QWidget;
    auto* column = new QVBoxLayout(whole);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(2);
    auto* label = new TextLabel(name, TextStyle::Caption, Role::Muted);
    label->setMinimumHeight(widgets::size::kIcon); // as the heads of fields, with their buttons
    column->addWidget(label);
    edit = new QLineEdit;
    edit->setObjectName(id);
    edit->setAccessibleName(name);
    edit->setAccessibleDescription(tr("derived, cannot be edited"));
    edit->setReadOnly(true);
    edit->setMinimumWidth(kDerivedWidth);
    widgets::setDerived(edit);
    widgets::setTextStyle(edit, TextStyle::Mono);
    column->addWidget(edit);
    column->addWidget(new TextLabel(remark, TextStyle::Caption, Role::Muted));
    return whole;
}

void BatchPanel::refresh() {
    equation_->refresh();
    FieldBox* micro = equation_->box("/training/micro_batch_size");
    if (source_.draft().isValid()) {
        const compile::BatchPlan batch = compile::plan_batch(source_.draft().config());
        ranks_->setText(QString::number(batch.data_ranks));
        accumulation_->setText(QString::number(batch.accumulation_steps));
        const bool whole = !source_.draft().config().micro_batch_size;
        micro->setRemark(whole ? tr("all at once: %1").arg(formatCount(batch.micro_batch_size))
                               : tr("in one forward and backward"));
    } else {
        micro->setRemark(tr("in one forward and backward"));
        ranks_->setText("–");
        accumulation_->setText("–");
    }
    refreshFigures();
}

void BatchPanel::refreshFigures() {
    if (!source_.draft().isValid() && !figures_->figures().empty()) {
        figures_->setStale(true); // of the last draft that could be counted
        problem_->hide();
        return;
    }
    const std::optional<RunCounts>& counts = outlook_.counts();
    const std::int64_t steps = outlook_.expectedSteps();
    const std::optional<double> seconds = outlook_.seconds();
    const bool tokens = counts && counts->pace.tokens_per_sample > 0;
    const bool estimated = counts && counts->steps == 0;
    const QString about = estimated ? "≈ " : "";
    const auto number = [&](double value) {
        return counts && steps > 0 ? about + shortCount(value) : QString();
    };
    std::vector<widgets::Figure> figures;
    figures.push_back({number(static_cast<double>(steps)), tr("updates"),
                       estimated ? tr("What the length in minutes comes to at the predicted speed")
                                 : tr("Updates of the weights in the whole run")});
    const auto batch = counts ? static_cast<double>(counts->pace.batch_size) : 0.0;
    if (tokens) {
        const auto length = static_cast<double>(counts->pace.tokens_per_sample);
        figures.push_back({shortCount(batch * length), tr("tokens an update"),
                           tr("Samples of an update × tokens of a sample")});
        figures.push_back({number(batch * length * static_cast<double>(steps)), tr("tokens in all"),
                           tr("Tokens an update × updates")});
    } else {
        figures.push_back({counts ? shortCount(batch) : QString(), tr("samples an update"),
                           tr("The global batch")});
        figures.push_back({number(counts ? counts->epochs(steps) *
                                               static_cast<double>(counts->pace.samples_per_epoch)
                                         : 0.0),
                           tr("samples in all"), tr("Samples of an epoch × epochs")});
    }
    figures.push_back(
        {counts && steps > 0 ? about + QString::number(counts->epochs(steps), 'f', 2) : QString(),
         tr("epochs"), tr("Passes over the training samples")});
    figures.push_back({counts ? formatCount(counts->pace.steps_per_epoch) : QString(),
                       tr("updates an epoch"),
                       counts ? tr("%1 training samples over the global batch")
                                    .arg(formatCount(counts->pace.samples_per_epoch))
                              : QString()});
    const cost::Hardware* hardware =
        source_.draft().isValid() ? hardwareOf(source_.draft().config(), nullptr) : nullptr;
    const bool unmeasured = hardware == nullptr && !seconds && counts && outlook_.digest() &&
                            !outlook_.digest()->plan->predicted_step_ms;
    figures.push_back(
        {seconds      ? "≈ " + formatDuration(*seconds)
         : unmeasured ? tr("not measured")
                      : QString(),
         hardware == nullptr ? tr("this machine") : toQString(hardware->title),
         unmeasured
             ? tr("Nothing is known of the speed of this machine: “Measure this machine” in "
                  "the menu Tools takes a minute")
             : tr("Updates × the predicted time of one; evaluations and saves come on top")});
    figures_->setFigures(figures);
    figures_->setStale(outlook_.isStale());
    const QString problem =
        outlook_.dataProblem().isEmpty() ? outlook_.planProblem() : outlook_.dataProblem();
    problem_->setText(problem);
    problem_->setVisible(!problem.isEmpty());
}

} // namespace weft::ui
