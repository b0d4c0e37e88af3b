// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/settings/settings_dialog.h"

#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/settings/measure_box.h"
#include "ui/settings/shortcut_editor.h"
#include "ui/studio.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/menu_text.h"
#include "widgets/look/style.h"

#include <QDesktopServices>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QListWidget>
#include <QPushButton>
#include <QScrollArea>
#include <QUrl>
#include <QVBoxLayout>

#include <cmath>

namespace weft::ui {
namespace {

using Mode = widgets::ThemeController::Mode;

constexpr QSize kSettingsDialogSize{760, 560};
constexpr int kSettingsDialogListWidth = 150;
constexpr int kScales[] = {80, 90, 100, 110, 125, 150}; // percent

QString sectionName(int section) {
    switch (section) {
    case SettingsDialog::General: return SettingsDialog::tr("General");
    case SettingsDialog::Appearance: return SettingsDialog::tr("Appearance");
    case SettingsDialog::Devices: return SettingsDialog::tr("Devices");
    case SettingsDialog::Folders: return SettingsDialog::tr("Folders");
    case SettingsDialog::Shortcuts: return SettingsDialog::tr("Shortcuts");
    default: return SettingsDialog::tr("Privacy");
    }
}

} // namespace

SettingsDialog::SettingsDialog(Studio& studio, const Actions& actions, QWidget* parent)
    : QDialog(parent), settings_(studio.settings()), list_(new QListWidget), search_(new QLineEdit),
      nothing_(new widgets::EmptyState("search", tr("No setting is called that"))) {
    setObjectName("settingsDialog");
    setWindowTitle(tr("Settings"));
    resize(kSettingsDialogSize);

    search_->setObjectName("settingsSearch");
    search_->setPlaceholderText(tr("Search settings and shortcuts"));
    search_->setAccessibleName(tr("Search settings"));
    search_->setClearButtonEnabled(true);
    list_->setObjectName("settingsSections");
    list_->setAccessibleName(tr("Sections"));
    list_->setFixedWidth(kSettingsDialogListWidth);
    list_->setFrameShape(QFrame::NoFrame);
    for (int section = 0; section < SectionCount; ++section) {
        list_->addItem(sectionName(section));
    }

    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kMargin, widgets::space::kMargin,
                               widgets::space::kMargin, widgets::space::kMargin);
    column->setSpacing(widgets::space::kGroup);
    column->addWidget(search_);
    auto* row = new QHBoxLayout;
    row->setSpacing(widgets::space::kMargin);
    row->addWidget(list_);
    row->addWidget(createSections(), 1);
    column->addLayout(row, 1);

    fillGeneral();
    fillAppearance();
    fillDevices(studio);
    fillFolders(studio.paths());
    fillShortcuts(actions);
    fillPrivacy();
    for (int section = 0; section < SectionCount; ++section) {
        if (section != Shortcuts) {
            section_rows_[section]->addStretch();
        }
    }
    connect(search_, &QLineEdit::textChanged, this, &SettingsDialog::arrange);
    connect(list_, &QListWidget::currentRowChanged, this, &SettingsDialog::arrange);
    connect(&settings_, &Settings::changed, this, &SettingsDialog::follow);
    list_->setCurrentRow(General);
    follow();
}

void SettingsDialog::showSection(Section section) {
    search_->clear();
    list_->setCurrentRow(section);
    show();
    raise();
    activateWindow();
    list_->setFocus();
}

QWidget* SettingsDialog::createSections() {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, widgets::space::kControl, 0);
    column->setSpacing(widgets::space::kSection);
    column->addWidget(nothing_, 1);
    for (int section = 0; section < SectionCount; ++section) {
        auto* box = new QWidget;
        auto* rows = new QVBoxLayout(box);
        rows->setContentsMargins(0, 0, 0, 0);
        rows->setSpacing(widgets::space::kMargin);
        rows->addWidget(new widgets::TextLabel(sectionName(section), widgets::TextStyle::Heading));
        section_widgets_[section] = box;
        section_rows_[section] = rows;
        column->addWidget(box, section == Shortcuts ? 1 : 0);
    }
    column->addStretch();
    return widgets::verticalScroll(content);
}

void SettingsDialog::addRow(Section section, const QString& name, const QString& explanation,
                            QWidget* control) {
    auto* widget = new QWidget;
    auto* row = new QHBoxLayout(widget);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kMargin);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    auto* title = new widgets::TextLabel(name);
    title->setBuddy(control);
    words->addWidget(title);
    auto* text =
        new widgets::TextLabel(explanation, widgets::TextStyle::Caption, widgets::Role::Muted);
    text->setWordWrap(true);
    words->addWidget(text);
    row->addLayout(words, 1);
    if (control != nullptr) {
        control->setAccessibleName(name);
        control->setAccessibleDescription(explanation);
        row->addWidget(control, 0, Qt::AlignRight | Qt::AlignVCenter);
    }
    section_rows_[section]->addWidget(widget);
    rows_.push_back({widget, name + " " + explanation + " " + sectionName(section), section});
}

widgets::ToggleSwitch* SettingsDialog::addSwitch(Section section, bool Preferences::*member,
                                                 const QString& object_name, const QString& name,
                                                 const QString& explanation) {
    auto* control = new widgets::ToggleSwitch;
    control->setObjectName(object_name);
    control->setCheckable(true);
    connect(control, &QAbstractButton::toggled, this, [this, member](bool on) {
        change([member, on](Preferences& values) { values.*member = on; });
    });
    followers_.push_back(
        [control, member](const Preferences& values) { control->setChecked(values.*member); });
    addRow(section, name, explanation, control);
    return control;
}

void SettingsDialog::fillGeneral() {
    addSwitch(General, &Preferences::open_last_page, "settingLastPage",
              tr("Go on where you left"),
              tr("Opens the page and the run that you looked at last. Otherwise the studio opens "
                 "on Home. The draft is always there again."));
    addSwitch(General, &Preferences::notify, "settingNotify", tr("Notify when a run ends"),
              tr("By the desktop's notifications: finished, failed or stopped by itself."));
    addSwitch(
        General, &Preferences::keep_awake, "settingKeepAwake",
        tr("Keep the computer awake while training"),
        tr("Asks the desktop not to suspend while a run that this studio shows is training."));
}

void SettingsDialog::fillAppearance() {
    auto* theme = new widgets::SegmentedControl({tr("System"), tr("Light"), tr("Dark")});
    theme->setObjectName("settingTheme");
    connect(theme, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        change([index](Preferences& values) { values.theme = static_cast<Mode>(index); });
    });
    followers_.push_back([theme](const Preferences& values) {
        theme->setCurrentIndex(static_cast<int>(values.theme));
    });
    addRow(Appearance, tr("Theme"), tr("System follows the desktop, also when it changes."), theme);

    QStringList percents;
    for (const int percent : kScales) {
        percents << tr("%1 %").arg(percent);
    }
    auto* scale = new widgets::SegmentedControl(percents);
    scale->setObjectName("settingTextSize");
    connect(scale, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        change([index](Preferences& values) { values.font_scale = kScales[index] / 100.0; });
    });
    followers_.push_back([scale](const Preferences& values) {
        int nearest = 0;
        for (int i = 1; i < static_cast<int>(std::size(kScales)); ++i) {
            const auto distance = [&values](int index) {
                return std::abs(kScales[index] / 100.0 - values.font_scale);
            };
            nearest = distance(i) < distance(nearest) ? i : nearest;
        }
        scale->setCurrentIndex(nearest);
    });
    addRow(Appearance, tr("Text size"), tr("Ctrl++ and Ctrl+- change it in steps of 10 %."), scale);

    auto* series = new widgets::SegmentedControl({tr("Tuned"), tr("Okabe-Ito")});
    series->setObjectName("settingSeries");
    connect(series, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        change([index](Preferences& values) {
            values.series = static_cast<widgets::SeriesPalette>(index);
        });
    });
    followers_.push_back([series](const Preferences& values) {
        series->setCurrentIndex(static_cast<int>(values.series));
    });
    addRow(Appearance, tr("Colours of runs and devices"),
           tr("Both can be told apart with every kind of colour vision. Tuned keeps a contrast of "
              "3:1 on the theme's surface."),
           series);
    auto* specs = new widgets::SegmentedControl({tr("JAX"), tr("DTensor")});
    specs->setObjectName("settingSpecs");
    connect(specs, &widgets::SegmentedControl::currentIndexChanged, this, [this](int index) {
        change([index](Preferences& values) {
            values.specs = static_cast<sharding::SpecDialect>(index);
        });
    });
    followers_.push_back([specs](const Preferences& values) {
        specs->setCurrentIndex(static_cast<int>(values.specs));
    });
    addRow(Appearance, tr("Specs of tensors on a mesh"),
           tr("As JAX writes them, P('data', None), or as placements of PyTorch's DTensor, "
              "[Shard(0), Replicate()]."),
           specs);
    addSwitch(Appearance, &Preferences::reduced_motion, "settingMotion", tr("Reduced motion"),
              tr("Nothing moves by itself: no spinner, no sliding."));
}

void SettingsDialog::fillDevices(Studio& studio) {
    const QString name = tr("Speed of this machine");
    addRow(Devices, name,
           tr("Predicted times of steps and runs rest on a measurement of what this machine can do "
              "at best and how close its kernels come. It takes about a minute, best while nothing "
              "else runs."),
           nullptr);
    auto* box = new MeasureBox(studio);
    section_rows_[Devices]->addWidget(box);
    rows_.push_back({box, name + " " + tr("Measure this machine"), Devices});
}

void SettingsDialog::addFolder(const QString& name, const QString& explanation,
                               const std::filesystem::path& path) {
    auto* open = new QPushButton(tr("Open"));
    open->setAutoDefault(false);
    const QFileInfo info(pathText(path));
    const QString folder = info.isDir() ? info.filePath() : info.path();
    open->setEnabled(QFileInfo(folder).isDir());
    connect(open, &QPushButton::clicked, this,
            [folder] { QDesktopServices::openUrl(QUrl::fromLocalFile(folder)); });
    addRow(Folders, name, explanation + "\n" + pathText(path), open);
}

void SettingsDialog::fillFolders(const StudioPaths& paths) {
    auto* choose = new QPushButton;
    choose->setObjectName("settingRunsFolder");
    choose->setAutoDefault(false);
    connect(choose, &QPushButton::clicked, this, &SettingsDialog::chooseRunsFolder);
    followers_.push_back([choose](const Preferences& values) {
        choose->setText(values.runs_folder.isEmpty()
                            ? tr("Choose…")
                            : widgets::menuText(QFileInfo(values.runs_folder).fileName()));
        choose->setToolTip(values.runs_folder);
    });
    addRow(Folders, tr("Folder for new runs"),
           tr("Taken at the next start, unless --runs or WEFT_RUNS name another."), choose);
    addFolder(tr("Runs in use now"), tr("Where this window finds and makes runs."),
              paths.runs_root);
    addFolder(tr("Presets"), tr("Configurations that Home offers."), paths.presets);
    addFolder(tr("Settings"), tr("This page as a file."), settings_.file());
    addFolder(tr("State"), tr("The draft, window layout and other things to go on from."),
              paths.state);
    addFolder(tr("Calibration"), tr("What was measured of this machine; predictions rest on it."),
              paths.calibration);
}

void SettingsDialog::fillShortcuts(const Actions& actions) {
    shortcuts_ = new ShortcutEditor(actions);
    connect(shortcuts_, &ShortcutEditor::edited, this, [this](const QMap<QString, QString>& keys) {
        change([&keys](Preferences& values) { values.shortcuts = keys; });
    });
    section_rows_[Shortcuts]->addWidget(shortcuts_, 1);
}

void SettingsDialog::fillPrivacy() {
    addRow(Privacy, tr("Nothing leaves this computer"),
           tr("The studio and its engine open no network connection: no telemetry, no update "
              "check, no download. Runs, data and settings stay in the folders that are listed "
              "under Folders. A training process is reached over a socket in a folder that only "
              "you can read."),
           nullptr);
}

void SettingsDialog::chooseRunsFolder() {
    const QString folder = askForFolder(
        this, {tr("Folder for new runs"), FileUse::Run, {}, settings_.values().runs_folder});
    if (!folder.isEmpty()) {
        change([&folder](Preferences& values) { values.runs_folder = folder; });
    }
}

void SettingsDialog::change(const std::function<void(Preferences&)>& edit) {
    Preferences values = settings_.values();
    edit(values);
    const QString problem = settings_.set(values);
    if (!problem.isEmpty()) {
        emit failed(problem);
    }
}

void SettingsDialog::follow() {
    for (const auto& follower : followers_) {
        follower(settings_.values());
    }
    shortcuts_->refresh();
}

void SettingsDialog::arrange() {
    const QString wanted = search_->text().trimmed();
    bool any[SectionCount] = {};
    for (const Row& row : rows_) {
        const bool fits = wanted.isEmpty() ? row.section == list_->currentRow()
                                           : row.words.contains(wanted, Qt::CaseInsensitive);
        row.widget->setVisible(fits);
        any[row.section] = any[row.section] || fits;
    }
    const int actions = shortcuts_->filter(wanted);
    any[Shortcuts] = wanted.isEmpty() ? list_->currentRow() == Shortcuts : actions > 0;
    bool found = false;
    for (int section = 0; section < SectionCount; ++section) {
        section_widgets_[section]->setVisible(any[section]);
        found = found || any[section];
    }
    nothing_->setVisible(!found);
    list_->setEnabled(wanted.isEmpty());
}

} // namespace weft::ui
