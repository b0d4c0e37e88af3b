// SPDX-License-Identifier: GPL-3.0-or-later
// Editors that are one control: switch, number, text, choice, path, names.
#pragma once

#include "ui/forms/field_editor.h"

#include <functional>

class QComboBox;
class QLineEdit;

namespace weft::widgets {
class SegmentedControl;
class ToggleSwitch;
} // namespace weft::widgets

namespace weft::ui {

class NumberInput;

/// A switch; where null means something of its own, three names side by side.
class BooleanEditor : public FieldEditor {
    Q_OBJECT
public:
    BooleanEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;

private:
    widgets::ToggleSwitch* toggle_ = nullptr;
    widgets::SegmentedControl* segments_ = nullptr;
};

/// Clearing the box means null where the field may be null, else the default.
class NumberEditor : public FieldEditor {
    Q_OBJECT
public:
    NumberEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    QString complaint() const override;
    void setInvalid(bool invalid) override;

private:
    NumberInput* input_;
};

class TextEditor : public FieldEditor {
    Q_OBJECT
public:
    TextEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    void setInvalid(bool invalid) override;
    /// From now on words that begin as the one before the cursor are offered. Once.
    void offer(QStringList words);

private:
    QLineEdit* edit_;
    bool offers_ = false;
};

/// A few short names side by side, else a combo box; a name that is none of them is shown too.
class ChoiceEditor : public FieldEditor {
    Q_OBJECT
public:
    ChoiceEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    void setInvalid(bool invalid) override;

private:
    void choose(int index);
    QStringList names() const;

    widgets::SegmentedControl* segments_ = nullptr;
    QComboBox* combo_ = nullptr;
};

/// A chosen file below the config's folder is written relative to it.
class PathEditor : public FieldEditor {
    Q_OBJECT
public:
    PathEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    void setInvalid(bool invalid) override;
    /// Takes a path as a dialog gives it.
    void take(const QString& chosen);

private:
    void ask(bool folder);

    QLineEdit* edit_;
};

/// For fields that only their reader can check: one name or several with commas between them. What
/// is written as JSON is taken as it is, for names that hold commas.
class NamesEditor : public FieldEditor {
    Q_OBJECT
public:
    NamesEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    void setInvalid(bool invalid) override;

private:
    QLineEdit* edit_;
};

} // namespace weft::ui
