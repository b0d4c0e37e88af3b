// SPDX-License-Identifier: GPL-3.0-or-later
#include "pages.h"

#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/pill.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/style.h"

#include <QCheckBox>
#include <QComboBox>
#include <QGridLayout>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QProgressBar>
#include <QRadioButton>
#include <QSlider>
#include <QSpinBox>
#include <QTabBar>
#include <QToolButton>
#include <QVBoxLayout>

namespace weft::gallery {

using namespace widgets;

namespace {

QHBoxLayout* rowIn(QVBoxLayout* layout, const QString& caption) {
    layout->addWidget(new TextLabel(caption, TextStyle::Caption, Role::Muted));
    auto* row = new QHBoxLayout;
    row->setSpacing(8);
    layout->addLayout(row);
    layout->addSpacing(8);
    return row;
}

QPushButton* button(const QString& text, ButtonKind kind, const QString& icon_name = {}) {
    auto* made = new QPushButton(text);
    setButtonKind(made, kind);
    if (!icon_name.isEmpty()) {
        made->setIcon(icon(icon_name));
    }
    return made;
}

void addButtons(QVBoxLayout* layout) {
    QHBoxLayout* row = rowIn(layout, QStringLiteral("Buttons: primary, normal, flat, danger, off"));
    row->addWidget(button(QStringLiteral("Start"), ButtonKind::Primary, QStringLiteral("play")));
    row->addWidget(button(QStringLiteral("Normal"), ButtonKind::Normal, QStringLiteral("copy")));
    row->addWidget(button(QStringLiteral("Flat"), ButtonKind::Flat, QStringLiteral("info")));
    row->addWidget(button(QStringLiteral("Delete…"), ButtonKind::Danger, QStringLiteral("trash")));
    QPushButton* off = button(QStringLiteral("Disabled"), ButtonKind::Normal);
    off->setEnabled(false);
    row->addWidget(off);
    QPushButton* small = button(QStringLiteral("Compact"), ButtonKind::Normal);
    setCompact(small);
    row->addWidget(small);
    row->addStretch(1);
    row = rowIn(layout, QStringLiteral("Split, segmented, tools"));
    auto* split = new SplitButton(QStringLiteral("Stop"), QStringLiteral("stop"));
    split->addAction(QStringLiteral("Stop now"));
    row->addWidget(split);
    auto* segments = new SegmentedControl(
        {QStringLiteral("f32"), QStringLiteral("bf16"), QStringLiteral("f16")});
    segments->setCurrentIndex(1);
    segments->setSegmentEnabled(2, false, QStringLiteral("GPU only"));
    row->addWidget(segments);
    for (const char* name : {"undo", "redo", "settings"}) {
        auto* tool = new QToolButton;
        tool->setIcon(icon(QString::fromLatin1(name)));
        tool->setAutoRaise(true);
        row->addWidget(tool);
    }
    row->addStretch(1);
}

void addFields(QVBoxLayout* layout) {
    QHBoxLayout* row = rowIn(layout, QStringLiteral("Fields: text, invalid, derived, off"));
    auto* text = new QLineEdit(QStringLiteral("6e-4"));
    auto* invalid = new QLineEdit(QStringLiteral("-1"));
    setInvalid(invalid);
    auto* derived = new QLineEdit(QStringLiteral("2"));
    setDerived(derived);
    derived->setReadOnly(true);
    auto* off = new QLineEdit(QStringLiteral("none"));
    off->setEnabled(false);
    for (QLineEdit* edit : {text, invalid, derived, off}) {
        edit->setFixedWidth(112);
        edit->setFont(Theme::current().font(TextStyle::Mono));
        row->addWidget(edit);
    }
    row->addStretch(1);
    row = rowIn(layout, QStringLiteral("Spin box, combo box, editable combo box"));
    auto* spin = new QSpinBox;
    spin->setRange(0, 4096);
    spin->setValue(64);
    row->addWidget(spin);
    auto* combo = new QComboBox;
    combo->addItems({QStringLiteral("warmup_cosine"), QStringLiteral("constant")});
    row->addWidget(combo);
    auto* edit = new QComboBox;
    edit->setEditable(true);
    edit->addItem(QStringLiteral("250 steps"));
    row->addWidget(edit);
    auto* combo_off = new QComboBox;
    combo_off->addItem(QStringLiteral("adamw"));
    combo_off->setEnabled(false);
    row->addWidget(combo_off);
    row->addStretch(1);
}

void addToggles(QVBoxLayout* layout) {
    QHBoxLayout* row = rowIn(layout, QStringLiteral("Toggles"));
    auto* on = new QCheckBox(QStringLiteral("save on improvement"));
    on->setChecked(true);
    row->addWidget(on);
    row->addWidget(new QCheckBox(QStringLiteral("at start")));
    auto* partial = new QCheckBox(QStringLiteral("some"));
    partial->setTristate(true);
    partial->setCheckState(Qt::PartiallyChecked);
    row->addWidget(partial);
    auto* off = new QCheckBox(QStringLiteral("off"));
    off->setChecked(true);
    off->setEnabled(false);
    row->addWidget(off);
    auto* radio = new QRadioButton(QStringLiteral("radio"));
    radio->setChecked(true);
    row->addWidget(radio);
    auto* toggle = new ToggleSwitch(QStringLiteral("deterministic"));
    toggle->setChecked(true);
    row->addWidget(toggle);
    row->addStretch(1);
    row = rowIn(layout, QStringLiteral("Slider, progress, tabs"));
    auto* slider = new QSlider(Qt::Horizontal);
    slider->setFixedWidth(140);
    slider->setValue(60);
    row->addWidget(slider);
    auto* progress = new QProgressBar;
    progress->setFixedWidth(140);
    progress->setValue(40);
    progress->setTextVisible(false);
    row->addWidget(progress);
    auto* tabs = new QTabBar;
    for (const char* name : {"Memory", "Collectives", "Pipeline"}) {
        tabs->addTab(QString::fromLatin1(name));
    }
    row->addWidget(tabs);
    row->addStretch(1);
}

void addPills(QVBoxLayout* layout) {
    QHBoxLayout* row = rowIn(layout, QStringLiteral("States"));
    for (int i = 0; i <= static_cast<int>(RunState::Failed); ++i) {
        auto* pill = new StatePill;
        pill->setState(static_cast<RunState>(i));
        row->addWidget(pill);
    }
    row->addStretch(1);
    row = rowIn(layout, QStringLiteral("Badges"));
    const auto badge = [row](const char* text, Role role, const char* icon_name) {
        auto* made = new Badge(QString::fromLatin1(text), role);
        made->setIconName(QString::fromLatin1(icon_name));
        row->addWidget(made);
    };
    badge("fits this machine", Role::Success, "check");
    badge("fits, but slow", Role::Warning, "clock");
    badge("too large", Role::Error, "error");
    badge("newest", Role::Accent, "");
    badge("best", Role::Success, "star-filled");
    badge("pinned", Role::Muted, "pin");
    auto* tag = new Badge(QStringLiteral("Ctrl+K"));
    tag->setTag(true);
    row->addWidget(tag);
    row->addStretch(1);
}

QWidget* makeIcons() {
    auto* card = new Card;
    auto* grid = new QGridLayout(card);
    grid->setContentsMargins(16, 16, 16, 16);
    grid->setSpacing(8);
    int i = 0;
    for (const QString& name : iconNames()) {
        auto* tool = new QToolButton;
        tool->setIcon(icon(name));
        tool->setToolButtonStyle(Qt::ToolButtonTextBesideIcon);
        tool->setText(name);
        tool->setAutoRaise(true);
        setCompact(tool);
        grid->addWidget(tool, i / 4, i % 4, Qt::AlignLeft);
        ++i;
    }
    return card;
}

} // namespace

QWidget* makeControlsPage() {
    auto* page = new Surface(Role::Background);
    auto* layout = new QHBoxLayout(page);
    layout->setContentsMargins(24, 24, 24, 24);
    layout->setSpacing(16);
    auto* card = new Card;
    auto* column = new QVBoxLayout(card);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(4);
    column->addWidget(new TextLabel(QStringLiteral("Controls"), TextStyle::Title));
    column->addSpacing(8);
    addButtons(column);
    addFields(column);
    addToggles(column);
    addPills(column);
    column->addStretch(1);
    layout->addWidget(card, 1);
    layout->addWidget(makeIcons());
    return page;
}

} // namespace weft::gallery
