// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/recipe/metric_editor.h"

#include "core/compile/config/metric_facts.h"
#include "ui/bridge/convert.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QSignalBlocker>

namespace weft::ui {
namespace {

using config::Json;

Json valueAt(const FormSource& source, const char* pointer) {
    const config::Field* field = source.field(pointer);
    return field == nullptr ? Json() : source.value(pointer, *field);
}

} // namespace

MetricEditor::MetricEditor(FormSource& source, const config::Field& field,
                           const std::string& pointer)
    : FieldEditor(source, field, pointer), names_(new QComboBox) {
    editorRow(this)->addWidget(names_);
    names_->setProperty("isData", true);
    names_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    nameControl(names_, *this);
    setFocusProxy(names_);
    leaveWheelToPage(names_);
    connect(names_, &QComboBox::activated, this, &MetricEditor::choose);
}

/// With the direction in which it is better, as one step of undo.
void MetricEditor::choose(int index) {
    const std::string name = names_->itemText(index).toStdString();
    const std::string mode = pointer().substr(0, pointer().rfind('/')) + "/mode";
    const char* better = compile::higher_is_better(name) ? "max" : "min";
    commitTyped(name);
    if (const config::Field* field = source().field(mode);
        field != nullptr && source().value(mode, *field) != better) {
        source().set(mode, better, toQString(pointer()));
    }
    settle();
}

/// Loss first, of the validation data first where there is any.
QStringList MetricEditor::reported() const {
    const Json validation = valueAt(source(), "/data/validation");
    const bool none =
        validation.is_null() || (validation.is_object() && validation.contains("split") &&
                                 validation.at("split").is_number() && validation.at("split") == 0);
    const Json metrics = valueAt(source(), "/metrics");
    QStringList out;
    for (const char* split : {"validation", "train"}) {
        if (none && split == std::string_view("validation")) {
            continue;
        }
        out.append(QStringLiteral("%1/loss").arg(QLatin1String(split)));
        for (const Json& name : metrics) {
            if (name.is_string()) {
                out.append(QLatin1String(split) + "/" + toQString(name.get<std::string>()));
            }
        }
    }
    return out;
}

void MetricEditor::refresh() {
    const Json now = value();
    const QString name = now.is_string() ? toQString(now.get<std::string>()) : QString();
    QStringList names = reported();
    if (!names.contains(name)) {
        names.append(name); // what the document says, right or wrong
    }
    const QSignalBlocker blocker(names_);
    QStringList shown;
    for (int i = 0; i < names_->count(); ++i) {
        shown.append(names_->itemText(i));
    }
    if (shown != names) {
        names_->clear();
        names_->addItems(names);
    }
    names_->setCurrentIndex(static_cast<int>(names.indexOf(name)));
}

void MetricEditor::setInvalid(bool invalid) {
    widgets::setInvalid(names_, invalid);
}

FieldEditor* createTrainingEditor(FormSource& source, const config::Field& field,
                                  const std::string& pointer) {
    return field.name == "metric" ? new MetricEditor(source, field, pointer)
                                  : createEditor(source, field, pointer);
}

} // namespace weft::ui
