// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/field_editor.h"

#include "ui/bridge/convert.h"
#include "ui/forms/cadence_editor.h"
#include "ui/forms/list_editor.h"
#include "ui/forms/number_input.h"
#include "ui/forms/record_editor.h"
#include "ui/forms/simple_editors.h"
#include "widgets/controls/controls.h"
#include "widgets/look/theme.h"

#include <QEvent>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QPushButton>

namespace weft::ui {
namespace {

class KeyFilter : public QObject {
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject*, QEvent* event) override {
        if (event->type() != QEvent::ShortcutOverride && event->type() != QEvent::KeyPress) {
            return false;
        }
        const auto* key = static_cast<QKeyEvent*>(event);
        if (!key->matches(QKeySequence::Undo) && !key->matches(QKeySequence::Redo)) {
            return false;
        }
        event->ignore(); // then it is a shortcut of the window
        return true;
    }
};

class WheelFilter : public QObject {
public:
    using QObject::QObject;

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::Wheel && !static_cast<QWidget*>(watched)->hasFocus()) {
            event->ignore();
            return true;
        }
        return false;
    }
};

} // namespace

QHBoxLayout* editorRow(QWidget* editor) {
    auto* row = new QHBoxLayout(editor);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kTight);
    return row;
}

void nameControl(QWidget* control, const FieldEditor& editor) {
    control->setObjectName("field:" + toQString(editor.pointer()));
    control->setAccessibleName(toQString(editor.field().name));
    control->setAccessibleDescription(helpText(editor.field()));
}

void markAsData(const widgets::SegmentedControl& segments) {
    for (auto* segment : segments.findChildren<QPushButton*>()) {
        segment->setProperty("isData", true);
    }
}

void leaveUndoToDraft(QWidget* edit) {
    edit->installEventFilter(new KeyFilter(edit));
}

void leaveWheelToPage(QWidget* control) {
    control->setFocusPolicy(Qt::StrongFocus);
    control->installEventFilter(new WheelFilter(control));
}

FieldEditor::FieldEditor(FormSource& source, const config::Field& field, std::string pointer,
                         QWidget* parent)
    : QWidget(parent), source_(source), field_(field), pointer_(std::move(pointer)) {}

void FieldEditor::commitTyped(const config::Json& value) {
    emit typing();
    source_.set(pointer_, value, toQString(pointer_));
}

void FieldEditor::settle() {
    source_.endMerge();
    emit settled();
}

bool isSmall(const config::Field& field) {
    switch (field.type) {
    case config::FieldType::boolean:
    case config::FieldType::integer:
    case config::FieldType::real:
    case config::FieldType::text:
    case config::FieldType::choice:
    case config::FieldType::path:
    case config::FieldType::any: return true;
    case config::FieldType::object: return field.one_of;
    case config::FieldType::list: return isSmall(field.item.front()) && !field.item.front().one_of;
    case config::FieldType::record:
    case config::FieldType::map: return false;
    }
    return false;
}

FieldEditor* createEditor(FormSource& source, const config::Field& field,
                          const std::string& pointer) {
    switch (field.type) {
    case config::FieldType::boolean: return new BooleanEditor(source, field, pointer);
    case config::FieldType::integer:
    case config::FieldType::real: return new NumberEditor(source, field, pointer);
    case config::FieldType::text: return new TextEditor(source, field, pointer);
    case config::FieldType::choice: return new ChoiceEditor(source, field, pointer);
    case config::FieldType::path: return new PathEditor(source, field, pointer);
    case config::FieldType::any: return new NamesEditor(source, field, pointer);
    case config::FieldType::list: return new ListEditor(source, field, pointer);
    case config::FieldType::map: return new MapEditor(source, field, pointer);
    case config::FieldType::record: return new RecordEditor(source, field, pointer);
    case config::FieldType::object:
        if (field.one_of) {
            return new CadenceEditor(source, field, pointer);
        }
        return new ObjectEditor(source, field, pointer);
    }
    Q_UNREACHABLE();
}

} // namespace weft::ui
