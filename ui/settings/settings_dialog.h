// SPDX-License-Identifier: GPL-3.0-or-later
// All preferences on one page. What is changed takes effect at once; a search finds rows by their
// names and explanations.
#pragma once

#include "ui/settings/settings.h"

#include <QDialog>

#include <functional>
#include <vector>

class QComboBox;
class QLineEdit;
class QListWidget;
class QVBoxLayout;

namespace weft::widgets {
class EmptyState;
class SegmentedControl;
class TextLabel;
class ToggleSwitch;
} // namespace weft::widgets

namespace weft::ui {

class Actions;
class ShortcutEditor;
class Studio;
struct StudioPaths;

class SettingsDialog : public QDialog {
    Q_OBJECT
public:
    SettingsDialog(Studio& studio, const Actions& actions, QWidget* parent = nullptr);

    enum Section { General, Appearance, Devices, Folders, Shortcuts, Privacy, SectionCount };
    /// Comes to the front with one section.
    void showSection(Section section);

signals:
    void failed(const QString& problem);

private:
    struct Row {
        QWidget* widget;
        QString words; // what the search looks into
        Section section;
    };

    QWidget* createSections();
    void fillGeneral();
    void fillAppearance();
    void fillDevices(Studio& studio);
    void fillFolders(const StudioPaths& paths);
    void fillShortcuts(const Actions& actions);
    void fillPrivacy();
    void addRow(Section section, const QString& name, const QString& explanation, QWidget* control);
    void addFolder(const QString& name, const QString& explanation,
                   const std::filesystem::path& path);
    widgets::ToggleSwitch* addSwitch(Section section, bool Preferences::*member,
                                     const QString& object_name, const QString& name,
                                     const QString& explanation);
    void chooseRunsFolder();
    /// Changes the preferences by `edit`.
    void change(const std::function<void(Preferences&)>& edit);
    /// Controls say what the preferences are.
    void follow();
    void arrange();

    Settings& settings_;
    QListWidget* list_;
    QLineEdit* search_;
    widgets::EmptyState* nothing_;
    QWidget* section_widgets_[SectionCount] = {};
    QVBoxLayout* section_rows_[SectionCount] = {};
    std::vector<Row> rows_;
    std::vector<std::function<void(const Preferences&)>> followers_;
    ShortcutEditor* shortcuts_ = nullptr;
};

} // namespace weft::ui
