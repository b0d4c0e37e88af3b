// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/loss_panel.h"

#include "core/compile/programs/loss_curve.h"
#include "core/nn/expression/words.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/forms/number_input.h"
#include "ui/forms/record_form.h"
#include "ui/forms/simple_editors.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/line_chart.h"
#include "widgets/look/style.h"

#include <QHBoxLayout>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

constexpr int kLossChartHeight = 150;

/// What the targets of the picture are: no setting, but typed as one.
const config::Field& targetField() {
    static const config::Field field =
        config::real_field("t", 0.0, "What the targets of the picture are.").range(-1000, 1000);
    return field;
}

} // namespace

LossPanel::LossPanel(FormSource& source, Draft& draft)
    : draft_(draft), chart_(new widgets::LineChart),
      said_(new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted)),
      target_row_(new QWidget), target_(new NumberInput(targetField())) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(new RecordForm(source, "/loss"));
    auto* row = new QHBoxLayout(target_row_);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    said_->setObjectName("lossSaid");
    row->addWidget(said_, 1);
    target_->setObjectName("lossTarget");
    target_->setAccessibleName(tr("What the targets of the picture are"));
    target_->setNumber(0.0);
    row->addWidget(target_);
    connect(target_, &NumberInput::edited, this, [this](const config::Json& value, bool) {
        if (value.is_number()) {
            target_now_ = value.get<double>();
            draw();
        }
    });
    column->addWidget(target_row_);
    chart_->setObjectName("lossCurve");
    chart_->setAccessibleName(tr("The loss and its slope over an output"));
    chart_->setAxisNames(QStringLiteral("y"), tr("loss"));
    chart_->setFixedHeight(kLossChartHeight);
    chart_->setNamesShown(true);
    column->addWidget(chart_);
    connect(&source, &FormSource::changed, this, &LossPanel::refresh);
    refresh();
}

/// The editor of the expression is made anew where the type of the loss changes.
void LossPanel::offerWords() {
    for (TextEditor* editor : findChildren<TextEditor*>()) {
        if (editor->pointer() == "/loss/expression") {
            QStringList words;
            for (const nn::ExpressionWord& word : nn::expression_words()) {
                if (!word.usage.empty()) {
                    words.append(toQString(std::string(word.name)));
                }
            }
            editor->offer(words);
        }
    }
}

// The picture of the last valid draft stays.
void LossPanel::refresh() {
    offerWords();
    if (!draft_.isValid() || draft_.isEmpty() || draft_.config().section("loss") == drawn_) {
        return;
    }
    drawn_ = draft_.config().section("loss");
    draw();
}

void LossPanel::draw() {
    if (drawn_.is_null()) {
        return;
    }
    const auto curve = compile::loss_curve(drawn_, {.target = target_now_});
    chart_->clearAll();
    chart_->setVisible(curve.has_value());
    target_row_->setVisible(curve.has_value());
    if (!curve) {
        return;
    }
    said_->setText(curve->of_classes ? tr("over the logit of the true class, the others being 0")
                                     : tr("over an output y; the target t is"));
    target_->setVisible(!curve->of_classes);
    const auto add = [&](const QString& name, int slot, const std::vector<double>& values) {
        chart_->append(chart_->addSeries({name, name, slot, widgets::SeriesForm::Plain}), curve->y,
                       values);
    };
    add(tr("loss"), 0, curve->loss);
    add(tr("slope"), 1, curve->slope);
}

} // namespace weft::ui
