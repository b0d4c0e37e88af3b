// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/new_run_dialog.h"

#include "ui/actions.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/recent_menu.h"
#include "ui/studio.h"
#include "widgets/controls/card.h"
#include "widgets/controls/icon_label.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QComboBox>
#include <QDialogButtonBox>
#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kNewRunWidth = 640; // at text size 1
constexpr int kNewRunIcon = 20;

TextLabel* noteLabel(const QString& text) {
    auto* label = new TextLabel(text, TextStyle::Caption, Role::Muted);
    label->setWordWrap(true);
    label->setAlignment(Qt::AlignTop | Qt::AlignLeft);
    return label;
}

/// Icon, title and explanation; controls at the right.
QWidget* wayIn(const char* icon, const QString& title, QWidget* note,
               std::initializer_list<QWidget*> controls) {
    auto* card = new widgets::Card;
    auto* row = new QHBoxLayout(card);
    row->setContentsMargins(widgets::space::kMargin, widgets::space::kGroup,
                            widgets::space::kMargin, widgets::space::kGroup);
    row->setSpacing(widgets::space::kGroup);
    row->addWidget(new widgets::IconLabel(icon, Role::Accent, kNewRunIcon), 0, Qt::AlignTop);
    auto* words = new QVBoxLayout;
    words->setSpacing(2);
    words->addWidget(new TextLabel(title, TextStyle::Strong));
    words->addWidget(note);
    words->addStretch(1);
    row->addLayout(words, 1);
    for (QWidget* control : controls) {
        row->addWidget(control, 0, Qt::AlignVCenter);
    }
    return card;
}

QPushButton* wayButton(const QString& text, const char* id, const QString& name) {
    auto* button = new QPushButton(text);
    button->setObjectName(id);
    button->setAccessibleName(name);
    return button;
}

} // namespace

NewRunDialog::NewRunDialog(Studio& studio, Actions& actions, QWidget* parent)
    : QDialog(parent), studio_(studio), presets_(new QComboBox),
      note_(new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted)) {
    setObjectName("newRunDialog");
    setWindowTitle(tr("New run"));
    askForData = [this](bool folder) {
        const FileQuestion question{tr("Train on my data"), FileUse::Data};
        return folder ? askForFolder(this, question) : askForFile(this, question);
    };
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kSection, widgets::space::kMargin,
                               widgets::space::kSection, widgets::space::kMargin);
    column->setSpacing(widgets::space::kGroup);
    column->addWidget(
        new TextLabel(tr("What should it begin with? Nothing starts before you press Start."),
                      TextStyle::Body, Role::Muted));
    column->addWidget(createEmpty());
    column->addWidget(createData());
    column->addWidget(createPreset());
    column->addWidget(createFile(actions));
    column->addStretch(1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    const double scale = widgets::Theme::current().fontScale();
    setMinimumWidth(static_cast<int>(kNewRunWidth * scale));
    connect(&studio_.opener(), &PathOpener::dataOffered, this, &QDialog::accept);
    connect(&studio_.opener(), &PathOpener::configOpened, this,
            &QDialog::accept); // also by its shortcut
    connect(&studio_.opener(), &PathOpener::modelOpened, this, &QDialog::accept);
    connect(&studio_, &Studio::runShown, this, &QDialog::accept);
    runInBackground(
        this, [folder = studio_.paths().presets] { return readPresets(folder); },
        [this](std::vector<PresetInfo> presets) { fillPresets(std::move(presets)); });
}

QWidget* NewRunDialog::createEmpty() {
    QPushButton* begin = wayButton(tr("Begin empty"), "newEmpty", tr("Begin with nothing"));
    begin->setDefault(true);
    widgets::setButtonKind(begin, widgets::ButtonKind::Primary);
    connect(begin, &QPushButton::clicked, this, [this] {
        studio_.draft().setEmpty(studio_.paths().runs_root);
        emit begun();
        accept();
    });
    return wayIn(
        "plus", tr("Nothing yet"),
        noteLabel(tr("Data, model and training are chosen on their pages, in this order.")),
        {begin});
}

QWidget* NewRunDialog::createData() {
    QPushButton* file = wayButton(tr("File…"), "newDataFile", tr("A file of my data"));
    QPushButton* folder = wayButton(tr("Folder…"), "newDataFolder", tr("A folder of my data"));
    const auto ask = [this](bool is_folder) {
        const QString path = askForData(is_folder);
        if (!path.isEmpty()) {
            emit chosen(path);
        }
    };
    connect(file, &QPushButton::clicked, this, [ask] { ask(false); });
    connect(folder, &QPushButton::clicked, this, [ask] { ask(true); });
    return wayIn("data", tr("My data"),
                 noteLabel(tr("A table, pictures or texts: a model that suits them is suggested.")),
                 {file, folder});
}

QWidget* NewRunDialog::createPreset() {
    presets_->setObjectName("newPresets");
    presets_->setAccessibleName(tr("Presets"));
    presets_->setSizeAdjustPolicy(QComboBox::AdjustToContents);
    connect(presets_, &QComboBox::currentIndexChanged, this, &NewRunDialog::sayPreset);
    QPushButton* use = wayButton(tr("Use"), "newPresetUse", tr("Use the preset"));
    connect(use, &QPushButton::clicked, this, [this] {
        const auto index = static_cast<std::size_t>(presets_->currentIndex());
        if (index < known_.size()) {
            emit chosen(pathText(known_[index].path));
        }
    });
    return wayIn("star", tr("A preset"), note_, {presets_, use});
}

QWidget* NewRunDialog::createFile(Actions& actions) {
    QPushButton* open = wayButton(tr("Open…"), "newOpen", tr("Open a configuration"));
    connect(open, &QPushButton::clicked, actions.get(action::kOpenFile), &QAction::trigger);
    QPushButton* recent = wayButton(tr("Recent"), "newRecent", tr("Open a recent one"));
    auto* menu = new RecentMenu(studio_, actions.get(action::kClearRecent), recent);
    recent->setMenu(menu);
    const auto follow = [this, recent] { recent->setVisible(!studio_.recent().entries().empty()); };
    connect(&studio_.recent(), &RecentPaths::changed, recent, follow);
    follow();
    return wayIn("file", tr("A configuration"),
                 noteLabel(tr("A file that you saved, or a run to begin from.")), {recent, open});
}

void NewRunDialog::fillPresets(std::vector<PresetInfo> presets) {
    known_ = std::move(presets);
    for (const PresetInfo& preset : known_) {
        presets_->addItem(preset.title);
    }
    sayPreset();
}

void NewRunDialog::sayPreset() {
    const auto index = static_cast<std::size_t>(presets_->currentIndex());
    note_->setText(index < known_.size() ? known_[index].firstNote() : QString());
}

} // namespace weft::ui
