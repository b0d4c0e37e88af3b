// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/forms/simple_editors.h"

#include "core/store/address.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/forms/number_input.h"
#include "widgets/controls/controls.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QAbstractItemView>
#include <QComboBox>
#include <QCompleter>
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
constexpr int kMostSegmentLetters = 16; // of as many as there may be, whose margins take room too
constexpr int kTextWidth = 120;     // at least
constexpr int kPathWidth = 160;

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

bool isPlainName(const Json& value) {
    return value.is_string() && value.get_ref<const std::string&>().find(',') == std::string::npos;
}

/// "price, area"
QString namesText(const Json& value) {
    const bool list =
        value.is_array() && !value.empty() && std::all_of(value.begin(), value.end(), isPlainName);
    if (!list) {
        return isPlainName(value) || value.is_null() ? textOf(value) : toQString(value.dump());
    }
    QStringList names;
    for (const Json& name : value) {
        names.append(textOf(name));
    }
    return names.join(QStringLiteral(", "));
}

Json namesIn(const QString& text) {
    if (text.trimmed().isEmpty()) {
        return nullptr;
    }
    config::Checked read = config::parse_json(text.toStdString(), "");
    if (read.ok()) {
        return read.value;
    }
    Json names = Json::array();
    for (const QString& part : text.split(',')) {
        if (!part.trimmed().isEmpty()) {
            names.push_back(part.trimmed().toStdString());
        }
    }
    const bool unfinished = text.contains('"'); // a name in quotes
    return names.size() < 2 || unfinished ? Json(text.toStdString()) : names;
}

} // namespace

BooleanEditor::BooleanEditor(FormSource& source, const config::Field& field,
                             const std::string& pointer)
    : FieldEditor(source, field, pointer) {
    QWidget* control = nullptr;
    if (field.nullable) {
        control = segments_ = new widgets::SegmentedControl({nullText(field), tr("yes"), tr("no")});
        markAsData(*segments_);
        connect(segments_, &widgets::SegmentedControl::currentIndexChanged, this,
                [this](int index) { commit(index == 0 ? Json() : Json(index == 1)); });
    } else {
        control = toggle_ = new widgets::ToggleSwitch;
        connect(toggle_, &QAbstractButton::clicked, this, [this](bool on) { commit(on); });
    }
    editorRow(this)->addWidget(control, 0, Qt::AlignLeft);
    nameControl(control, *this);
    setFocusProxy(control);
}

void BooleanEditor::refresh() {
    const Json now = value();
    const bool on = now.is_boolean() && now.get<bool>();
    if (segments_ != nullptr) {
        const QSignalBlocker blocker(segments_);
        segments_->setCurrentIndex(now.is_null() ? 0 : on ? 1 : 2);
    } else {
        const QSignalBlocker blocker(toggle_);
        toggle_->setChecked(on);
    }
}

NumberEditor::NumberEditor(FormSource& source, const config::Field& field,
                           const std::string& pointer)
    : FieldEditor(source, field, pointer), input_(new NumberInput(field)) {
    editorRow(this)->addWidget(input_);
    nameControl(input_, *this);
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
    editorRow(this)->addWidget(edit_);
    nameControl(edit_, *this);
    setFocusProxy(edit_);
    leaveUndoToDraft(edit_);
    edit_->setMinimumWidth(kTextWidth);
    edit_->setPlaceholderText(field.nullable ? nullText(field) : QString());
    connect(edit_, &QLineEdit::textEdited, this, [this](const QString& text) {
        commitTyped(text.isEmpty() && this->field().nullable ? Json() : Json(text.toStdString()));
    });
    connect(edit_, &QLineEdit::editingFinished, this, [this] { settle(); });
}

// What is completed is the word before the cursor; what stands around it stays.
void TextEditor::offer(QStringList words) {
    if (offers_) {
        return;
    }
    offers_ = true;
    words.sort();
    auto* completer = new QCompleter(words, this);
    completer->setWidget(edit_);
    completer->setObjectName("words");
    const auto begin_of_word = [this] {
        const QString text = edit_->text();
        int at = edit_->cursorPosition();
        while (at > 0 && (text[at - 1].isLetterOrNumber() || text[at - 1] == '_')) {
            --at;
        }
        return at;
    };
    connect(edit_, &QLineEdit::textEdited, completer,
            [this, completer, begin_of_word](const QString& text) {
                const int begin = begin_of_word();
                const QString typed = text.mid(begin, edit_->cursorPosition() - begin);
                completer->setCompletionPrefix(typed);
                if (typed.size() < 2 || completer->currentCompletion() == typed ||
                    completer->completionCount() == 0) {
                    completer->popup()->hide();
                    return;
                }
                completer->complete();
            });
    connect(completer, qOverload<const QString&>(&QCompleter::activated), edit_,
            [this, begin_of_word](const QString& word) {
                const int begin = begin_of_word();
                edit_->setSelection(begin, edit_->cursorPosition() - begin);
                edit_->insert(word); // as if it were typed
                commitTyped(Json(edit_->text().toStdString()));
            });
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
    QHBoxLayout* row = editorRow(this);
    const QStringList all = names();
    QWidget* control = nullptr;
    // What may be none is more often left alone: one box.
    const int letters = all.size() < kMostSegments ? kSegmentLetters : kMostSegmentLetters;
    if (!field.nullable && all.size() <= kMostSegments && all.join("").size() <= letters) {
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
    nameControl(control, *this);
    setFocusProxy(control);
}

QStringList ChoiceEditor::names() const {
    QStringList out;
    if (field().nullable) {
        out.append(nullText(field()));
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
    QHBoxLayout* row = editorRow(this);
    row->addWidget(edit_, 1);
    nameControl(edit_, *this);
    setFocusProxy(edit_);
    leaveUndoToDraft(edit_);
    edit_->setMinimumWidth(kPathWidth);
    edit_->setPlaceholderText(field.nullable ? nullText(field) : tr("file or folder"));
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
    const bool elsewhere = store::is_address(edit_->text().toStdString());
    const QString given = edit_->text().isEmpty() || elsewhere ? QString() : pathText(here);
    const FileQuestion question{title, FileUse::Data, {}, given};
    const QString chosen = folder ? askForFolder(this, question) : askForFile(this, question);
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

NamesEditor::NamesEditor(FormSource& source, const config::Field& field, const std::string& pointer)
    : FieldEditor(source, field, pointer), edit_(new QLineEdit) {
    editorRow(this)->addWidget(edit_);
    nameControl(edit_, *this);
    setFocusProxy(edit_);
    leaveUndoToDraft(edit_);
    edit_->setMinimumWidth(kTextWidth);
    edit_->setPlaceholderText(nullText(field));
    connect(edit_, &QLineEdit::textEdited, this,
            [this](const QString& text) { commitTyped(namesIn(text)); });
    connect(edit_, &QLineEdit::editingFinished, this, [this] { settle(); });
}

void NamesEditor::refresh() {
    const Json now = value();
    if (namesIn(edit_->text()) != now) {
        showText(edit_, namesText(now));
    }
}

void NamesEditor::setInvalid(bool invalid) {
    widgets::setInvalid(edit_, invalid);
}

} // namespace weft::ui
