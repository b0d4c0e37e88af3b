// SPDX-License-Identifier: GPL-3.0-or-later
// Editors of any number of items: lists, whose items can be added, moved, copied and taken out,
// and maps, whose keys are free.
#pragma once

#include "ui/forms/field_editor.h"

class QPushButton;

namespace weft::widgets {
class FlowLayout;
class ToggleSwitch;
} // namespace weft::widgets

namespace weft::ui {

class ListEditor : public FieldEditor {
    Q_OBJECT
public:
    ListEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;
    void setInvalid(bool invalid) override;

private:
    void rebuild(std::size_t count);
    QWidget* createItem(std::size_t index);
    QWidget* itemButton(const char* icon, const QString& name, std::size_t index,
                        void (ListEditor::*change)(std::size_t));
    /// Of lists that have so many items and no other number.
    bool mayGrow(std::size_t count) const;
    bool mayShrink() const;
    void add();
    void remove(std::size_t index);
    void moveUp(std::size_t index);
    void duplicate(std::size_t index);
    config::Json items() const;

    widgets::ToggleSwitch* given_ = nullptr; // where it may be null
    QWidget* place_;
    QPushButton* add_;
    std::vector<QWidget*> rows_;
    std::vector<FieldEditor*> editors_;
};

class MapEditor : public FieldEditor {
    Q_OBJECT
public:
    MapEditor(FormSource& source, const config::Field& field, const std::string& pointer);
    void refresh() override;

private:
    void rebuild(const std::vector<std::string>& keys);
    void rename(const std::string& from, const std::string& to);
    void add();
    config::Json entries() const;

    QWidget* place_;
    QPushButton* add_;
    std::vector<std::string> keys_;
    std::vector<FieldEditor*> editors_;
};

/// What a new item starts with: its default, or the smallest that its type allows.
config::Json newItem(const config::Field& item, const config::Json& others);

} // namespace weft::ui
