// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/stopping_panel.h"

#include "core/base/check.h"
#include "ui/forms/field_group.h"
#include "ui/forms/number_input.h"
#include "ui/forms/number_text.h"
#include "ui/pages/recipe/metric_editor.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"

#include <QHBoxLayout>
#include <QSignalBlocker>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using config::Json;

constexpr const char* kStoppingPointer = "/training/early_stopping";
constexpr const char* kPatiencePointer = "/training/early_stopping/patience";
enum StoppingChoice { StoppingAuto, StoppingOn, StoppingOff };

const config::Field& stoppingField(const FormSource& source) {
    const config::Field* field = source.field(kStoppingPointer);
    WEFT_CHECK(field != nullptr, "the table has the fields that pages name");
    return *field;
}

} // namespace

StoppingPanel::StoppingPanel(FormSource& source)
    : FieldEditor(source, stoppingField(source), kStoppingPointer),
      choice_(new widgets::SegmentedControl({tr("auto"), tr("on"), tr("off")})),
      words_(new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Muted)),
      rules_(new FieldGroup(source,
                            {"/training/early_stopping/metric", "/training/early_stopping/mode",
                             kPatiencePointer, "/training/early_stopping/min_delta"},
                            createTrainingEditor)),
      problems_(new ProblemLines) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    auto* head = new QHBoxLayout;
    head->setSpacing(widgets::space::kGroup);
    head->addWidget(choice_, 0, Qt::AlignTop);
    words_->setObjectName("stoppingWords");
    words_->setWordWrap(true);
    head->addWidget(words_, 1, Qt::AlignVCenter);
    column->addLayout(head);
    column->addWidget(rules_);
    column->addWidget(problems_);
    nameControl(choice_, *this);
    setFocusProxy(choice_);
    connect(choice_, &widgets::SegmentedControl::currentIndexChanged, this, &StoppingPanel::choose);
    connect(&source, &FormSource::changed, this, &StoppingPanel::refresh);
    refresh();
}

void StoppingPanel::choose(int index) {
    if (index == StoppingAuto) {
        source().reset(pointer());
    } else {
        commit(index == StoppingOn ? last_ : Json());
    }
}

void StoppingPanel::refresh() {
    const Json* given = source().given(pointer());
    const Json now = value();
    const bool known = given != nullptr || source().draft().isValid(); // the data decides
    const bool on = now.is_object();
    last_ = on ? now : last_;
    {
        const QSignalBlocker blocker(choice_);
        choice_->setCurrentIndex(given == nullptr   ? StoppingAuto
                                 : given->is_null() ? StoppingOff
                                                    : StoppingOn);
    }
    rules_->setVisible(known && on);
    if (known) {
        words_->setText(given == nullptr
                            ? on ? tr("on here, as for all small tables of default length")
                                 : tr("off here: only small tables of default length have it")
                        : on ? tr("the run is finished when the metric stops improving")
                             : tr("the run is trained to its full length"));
    }
    rules_->box(kPatiencePointer)->setRemark(patienceText());
    std::vector<ProblemLine> lines;
    for (const config::Diagnostic& one : source().problems(pointer())) {
        lines.push_back(problemLine(one));
    }
    problems_->setLines(lines);
    setEnabled(source().isEditable());
}

QString StoppingPanel::patienceText() const {
    const Json patience = source().value(kPatiencePointer, *source().field(kPatiencePointer));
    const Json every = source().value("/evaluation/every", *source().field("/evaluation/every"));
    const bool counted = patience.is_number_integer() && every.is_object() && every.size() == 1 &&
                         every.begin()->is_number();
    if (!counted) {
        return {};
    }
    const double amount = patience.get<double>() * every.begin()->get<double>();
    return tr("%1 at least").arg(settingText({{every.begin().key(), amount}}));
}

} // namespace weft::ui
