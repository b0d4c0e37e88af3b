// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/loss_scale_panel.h"

#include "ui/forms/field_group.h"
#include "ui/pages/recipe/metric_editor.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"

#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr const char* kLossScalePointer = "/training/loss_scale";
constexpr const char* kPrecisionPointer = "/training/precision";

/// "f16" or another name of it.
bool isScaled(const config::Json& precision, const config::Field& field) {
    const std::string name = precision.is_string() ? precision.get<std::string>() : std::string();
    return name == "f16" ||
           std::count(field.aliases.begin(), field.aliases.end(), name + "=f16") > 0;
}

} // namespace

LossScalePanel::LossScalePanel(FormSource& source) : source_(source) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(new widgets::TextLabel(
        tr("In f16 the loss is scaled, so that small gradients are not lost"),
        widgets::TextStyle::Caption, widgets::Role::Muted));
    std::vector<std::string> pointers;
    for (const config::Field& field : source.field(kLossScalePointer)->fields) {
        pointers.push_back(kLossScalePointer + ("/" + field.name));
    }
    column->addWidget(new FieldGroup(source, pointers, createTrainingEditor));
    connect(&source, &FormSource::changed, this, &LossScalePanel::refresh);
    refresh();
}

void LossScalePanel::refresh() {
    const config::Field* precision = source_.field(kPrecisionPointer);
    setVisible(source_.given(kLossScalePointer) != nullptr ||
               isScaled(source_.value(kPrecisionPointer, *precision), *precision));
}

} // namespace weft::ui
