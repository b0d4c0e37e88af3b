// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/simple_editors.h"

#include "ui/bridge/convert.h"
#include "ui/forms/number_input.h"
#include "widgets/controls.h"
#include "widgets/icon.h"
#include "widgets/style.h"

#include <QComboBox>
#include <QFileDialog>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QSignalBlocker>

#include <algorithm>

namespace weft::ui {
namespace {

using config::Json;

constexpr int kMostSegments = 4;
constexpr int kSegmentLetters = 26; // of all segments together
constexpr int kTextWidth = 120;     // at least
constexpr int kPathWidth = 160;

QHBoxLayout* rowOf(QWidget* widget) {
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kTight);
    return row;
}

/// The control that stands for its field.
void name(QWidget* control, const FieldEditor& editor) {
    control->setObjectName("field:" + toQString(editor.pointer()));
    control->setAccessibleName(toQString(editor.field().name));
    control->setAccessibleDescription(toQString(editor.field().help));
}

/// Names of the schema, which nobody translates.
void markAsData(const widgets::SegmentedControl& segments) {
    for (auto* segment : segments.findChildren<QPushButton*>()) {
        segment->setProperty("isData", true);
    }
}

void showText(QLineEdit* edit, const QString& text) {
    if (edit->text() != text) {
        edit->setText(text);
        edit->setCursorPosition(0);
    }
}

QString textOf(const Json& value) {
    return value.is_null()     ? QString()
           : value.is_string() ? toQString(value.get_ref<const std::string&>())
                               : toQString(value.dump());
}

} // namespace

BooleanEditor::BooleanEditor(FormSource& source, const config::Field& field,
                             const std::string& pointer)
    : FieldEditor(source, field, pointer), toggle_(new widgets::ToggleSwitch) {
    QHBoxLayout* row = rowOf(this);
    row->addWidget(toggle_, 0, Qt::AlignLeft);
    name(toggle_, *this);
    setFocusProxy(toggle_);
    connect(toggle_, &QAbstractButton::clicked, this, [this](bool on) { commit(on); });
}

void BooleanEditor::refresh() {
    const Json now = value();
    const QSignalBlocker blocker(toggle_);
    toggle_->setChecked(now.is_boolean() && now.get<bool>());
}

NumberEditor::NumberEditor(FormSource& source, const config::Field& field,
                           const std::string& pointer)
    : FieldEditor(source, field, pointer), input_(new NumberInput(field)) {
    rowOf(this)->addWidget(input_);
    name(input_, *this);
    setFocusProxy(input_);
    connect(input_, &NumberInput::edited, this, [this](const Json& now, bool cleared) {
        if (cleared && !this->field().nullable && !this->field().default_value.is_null()) {
            emit typing();
            this->source().reset(this->pointer());
        } else if (cleared && !this->field().nullable) {
            commitTyped("");
        } else {
            commitTyped(now);
        }
    });
    connect(input_, &NumberInput::settled, this, [this] {
        settle();
        refresh();
    });
}

void NumberEditor::refresh() {
    const bool cleared = input_->isTyping() && input_->text().isEmpty();
    if (!cleared || source().given(pointer()) != nullptr) {
        input_->setNumber(value());
    }
}

QString NumberEditor::complaint() const {
    return input_->problem();
}

void NumberEditor::setInvalid(bool invalid) {
    widgets::setInvalid(input_, invalid);
}

TextEditor::TextEditor(FormSource& source, const config::Field& field, const std::string& pointer)
    : FieldEditor(source, field, pointer), edit_(new QLineEdit) {
    rowOf(this)->addWidget(edit_);
    name(edit_, *this);
    setFocusProxy(edit_);
    leaveUndoToDraft(edit_);
    edit_->setMinimumWidth(kTextWidth);
    edit_->setPlaceholderText(field.nullable ? noneText() : QString());
    connect(edit_, &QLineEdit::textEdited, this, [this](const QString& text) {
        commitTyped(text.isEmpty() && this->field().nullable ? Json() : Json(text.toStdString()));
    });
    connect(edit_, &QLineEdit::editingFinished, this, [this] { settle(); });
}

void TextEditor::refresh() {
    showText(edit_, textOf(value()));
}

void TextEditor::setInvalid(bool invalid) {
    widgets::setInvalid(edit_, invalid);
}

ChoiceEditor::ChoiceEditor(FormSource& source, const config::Field& field,
                           const std::string& pointer)
    : FieldEditor(source, field, pointer) {
    QHBoxLayout* row = rowOf(this);
    const QStringList all = names();
    QWidget* control = nullptr;
    // What may be none is more often left alone: one box.
    if (!field.nullable && all.size() <= kMostSegments && all.join("").size() <= kSegmentLetters) {
        control = segments_ = new widgets::SegmentedControl(all);
        markAsData(*segments_);
        connect(segments_, &widgets::SegmentedControl::currentIndexChanged, this,
                &ChoiceEditor::choose);
        row->addWidget(segments_, 0, Qt::AlignLeft);
    } else {
        control = combo_ = new QComboBox;
        combo_->addItems(all);
        leaveWheelToPage(combo_);
        connect(combo_, &QComboBox::activated, this, &ChoiceEditor::choose);
        row->addWidget(combo_);
    }
    name(control, *this);
    setFocusProxy(control);
}

QStringList ChoiceEditor::names() const {
    QStringList out;
    if (field().nullable) {
        out.append(noneText());
    }
    for (const std::string& choice : field().choices) {
        out.append(toQString(choice));
    }
    return out;
}

void ChoiceEditor::choose(int index) {
    const int first = field().nullable ? 1 : 0;
    if (index < first) {
        commit(nullptr);
    } else if (index - first < static_cast<int>(field().choices.size())) {
        commit(field().choices[static_cast<std::size_t>(index - first)]);
    }
}

void ChoiceEditor::refresh() {
    Json now = value();
    for (const std::string& alias : field().aliases) { // "fp32=f32"
        if (now.is_string() && alias.starts_with(now.get<std::string>() + "=")) {
            now = alias.substr(alias.find('=') + 1);
        }
    }
    const QStringList all = names();
    const qsizetype index = now.is_null() ? (field().nullable ? 0 : -1) : all.indexOf(textOf(now));
    if (segments_ != nullptr) {
        const QSignalBlocker blocker(segments_);
        segments_->setCurrentIndex(static_cast<int>(index));
        return;
    }
    const QSignalBlocker blocker(combo_);
    while (combo_->count() > all.size()) {
        combo_->removeItem(combo_->count() - 1);
    }
    if (index < 0 && !now.is_null()) {
        combo_->addItem(textOf(now)); // what the document says, right or wrong
    }
    combo_->setCurrentIndex(index < 0 && !now.is_null() ? combo_->count() - 1
                                                        : static_cast<int>(index));
}

void ChoiceEditor::setInvalid(bool invalid) {
    widgets::setInvalid(combo_ != nullptr ? static_cast<QWidget*>(combo_) : segments_, invalid);
}

PathEditor::PathEditor(FormSource& source, const config::Field& field, const std::string& pointer)
    : FieldEditor(source, field, pointer), edit_(new QLineEdit) {
    QHBoxLayout* row = rowOf(this);
    row->addWidget(edit_, 1);
    name(edit_, *this);
    setFocusProxy(edit_);
    leaveUndoToDraft(edit_);
    edit_->setMinimumWidth(kPathWidth);
    edit_->setPlaceholderText(field.nullable ? noneText() : tr("file or folder"));
    connect(edit_, &QLineEdit::textEdited, this, [this](const QString& text) {
        commitTyped(text.isEmpty() && this->field().nullable ? Json() : Json(text.toStdString()));
    });
    connect(edit_, &QLineEdit::editingFinished, this, [this] { settle(); });
    auto* browse = new QPushButton(widgets::icon("folder"), {});
    browse->setObjectName("browse:" + toQString(pointer));
    browse->setAccessibleName(tr("Choose %1").arg(toQString(field.name)));
    browse->setToolTip(tr("Choose a file or folder"));
    auto* menu = new QMenu(browse);
    connect(menu->addAction(widgets::icon("file"), tr("File…")), &QAction::triggered, this,
            [this] { ask(false); });
    connect(menu->addAction(widgets::icon("folder"), tr("Folder…")), &QAction::triggered, this,
            [this] { ask(true); });
    browse->setMenu(menu);
    row->addWidget(browse);
}

void PathEditor::refresh() {
    showText(edit_, textOf(value()));
}

void PathEditor::ask(bool folder) {
    const std::filesystem::path here =
        source().draft().baseDir() / edit_->text().toStdString(); // absolute ones stay
    const QString title = tr("Choose %1").arg(toQString(field().name));
    const QString chosen = folder ? QFileDialog::getExistingDirectory(this, title, pathText(here))
                                  : QFileDialog::getOpenFileName(this, title, pathText(here));
    if (!chosen.isEmpty()) {
        take(chosen);
    }
}

void PathEditor::take(const QString& chosen) {
    const std::filesystem::path path = toPath(chosen).lexically_normal();
    const std::filesystem::path base = source().draft().baseDir();
    const std::filesystem::path relative =
        base.empty() ? path : path.lexically_relative(std::filesystem::absolute(base));
    const bool below = !relative.empty() && *relative.begin() != "..";
    commit((below ? relative : path).string());
}

void PathEditor::setInvalid(bool invalid) {
    widgets::setInvalid(edit_, invalid);
}

JsonEditor::JsonEditor(FormSource& source, const config::Field& field, const std::string& pointer)
    : FieldEditor(source, field, pointer), edit_(new QLineEdit) {
    rowOf(this)->addWidget(edit_);
    name(edit_, *this);
    setFocusProxy(edit_);
    leaveUndoToDraft(edit_);
    widgets::setTextStyle(edit_, widgets::TextStyle::Mono);
    edit_->setMinimumWidth(kTextWidth);
    edit_->setPlaceholderText(noneText());
    connect(edit_, &QLineEdit::textEdited, this, [this](const QString& text) {
        config::Checked read = config::parse_json(text.toStdString(), "");
        commitTyped(text.trimmed().isEmpty() ? Json()
                    : read.ok()              ? read.value
                                             : Json(text.toStdString()));
    });
    connect(edit_, &QLineEdit::editingFinished, this, [this] { settle(); });
}

void JsonEditor::refresh() {
    const Json now = value();
    const config::Checked typed = config::parse_json(edit_->text().toStdString(), "");
    if (!typed.ok() || typed.value != now) {
        showText(edit_, textOf(now));
    }
}

void JsonEditor::setInvalid(bool invalid) {
    widgets::setInvalid(edit_, invalid);
}

CadenceEditor::CadenceEditor(FormSource& source, const config::Field& field,
                             const std::string& pointer)
    : FieldEditor(source, field, pointer), place_(new QWidget) {
    QHBoxLayout* row = rowOf(this);
    rowOf(place_);
    row->addWidget(place_);
    QStringList names;
    for (const config::Field& unit : field.fields) {
        names.append(toQString(unit.name));
    }
    QWidget* units = nullptr;
    if (field.nullable) { // one box, as for choices
        names.append(noneText());
        units = combo_ = new QComboBox;
        combo_->addItems(names);
        leaveWheelToPage(combo_);
        connect(combo_, &QComboBox::activated, this, &CadenceEditor::chooseUnit);
    } else {
        units = segments_ = new widgets::SegmentedControl(names);
        markAsData(*segments_);
        connect(segments_, &widgets::SegmentedControl::currentIndexChanged, this,
                &CadenceEditor::chooseUnit);
    }
    units->setObjectName("unit:" + toQString(pointer));
    units->setAccessibleName(tr("Unit of %1").arg(toQString(field.name)));
    row->addWidget(units, 0, Qt::AlignLeft);
    buildInput(0);
}

void CadenceEditor::buildInput(std::size_t unit) {
    delete input_;
    unit_ = unit;
    input_ = new NumberInput(field().fields[unit]);
    name(input_, *this);
    setFocusProxy(input_);
    place_->layout()->addWidget(input_);
    widgets::placeInTabOrder(this);
    connect(input_, &NumberInput::edited, this, [this](const Json& now, bool cleared) {
        commitTyped({{field().fields[unit_].name, cleared ? Json("") : now}});
    });
    connect(input_, &NumberInput::settled, this, [this] { settle(); });
}

void CadenceEditor::chooseUnit(int index) {
    const auto unit = static_cast<std::size_t>(index);
    if (unit >= field().fields.size()) {
        commit(nullptr);
        return;
    }
    // The amount stays what it was, as far as the other unit can say it.
    const config::Field& wanted = field().fields[unit];
    Json amount = input_->number();
    if (!amount.is_number()) {
        amount = 1;
    }
    const double size = amount.get<double>();
    if (wanted.type == config::FieldType::integer && !amount.is_number_integer()) {
        amount = static_cast<std::int64_t>(std::max(1.0, size));
    }
    commit({{wanted.name, amount}});
}

void CadenceEditor::refresh() {
    const Json now = value();
    std::size_t unit = unit_;
    Json amount;
    for (std::size_t i = 0; i < field().fields.size() && now.is_object(); ++i) {
        const auto found = now.find(field().fields[i].name);
        if (found != now.end()) {
            unit = i;
            amount = *found;
        }
    }
    if (unit != unit_) {
        const bool focused = input_->hasFocus();
        buildInput(unit);
        if (focused) {
            input_->setFocus();
        }
    }
    place_->setVisible(!now.is_null());
    if (!(input_->isTyping() && input_->text().isEmpty())) {
        input_->setNumber(amount);
    }
    if (segments_ != nullptr) {
        const QSignalBlocker blocker(segments_);
        segments_->setCurrentIndex(static_cast<int>(unit));
    } else {
        const QSignalBlocker blocker(combo_);
        combo_->setCurrentIndex(now.is_null() ? combo_->count() - 1 : static_cast<int>(unit));
    }
}

QString CadenceEditor::complaint() const {
    return input_->problem();
}

void CadenceEditor::setInvalid(bool invalid) {
    widgets::setInvalid(input_, invalid);
}

} // namespace weft::ui
