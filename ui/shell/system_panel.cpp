// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/shell/system_panel.h"

#include "ui/models/gpu_model.h"
#include "ui/pages/table.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/icon.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"

#include <QEvent>
#include <QFormLayout>
#include <QHBoxLayout>
#include <QLocale>
#include <QPushButton>
#include <QScrollArea>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

enum SystemSheet { NoGpuSheet, GpuSheet };
constexpr int kGpusWidth = 720;
constexpr int kSystemFactsWidth = 400;
constexpr int kLeastFactsWidth = 220;
constexpr int kSystemPanelLeastHeight = 140; // four GPUs, at text size 1

/// A line each: "No NVIDIA driver is loaded."
QString sentences(const QStringList& reasons) {
    QStringList out;
    for (const QString& reason : reasons) {
        out << reason.left(1).toUpper() + reason.mid(1) + QLatin1Char('.');
    }
    return out.join(QLatin1Char('\n'));
}

} // namespace

SystemPanel::SystemPanel(Studio& studio, QWidget* parent) : QWidget(parent), studio_(studio) {
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    auto* columns = new widgets::ThinSplitter(Qt::Horizontal, "systemSplitter");
    columns->addWidget(createGpus());
    columns->addWidget(createFacts());
    columns->setStretchFactor(0, 1);
    columns->setSizes({kGpusWidth, kSystemFactsWidth});
    row->addWidget(columns);
    keepHeight();
    connect(&studio_.machine(), &MachineLook::changed, this, &SystemPanel::update);
    connect(&studio_.machine(), &MachineLook::found, this, &SystemPanel::fillFacts);
    connect(&studio_.run(), &RunModel::changed, this, &SystemPanel::update);
    connect(&studio_, &Studio::trainingChanged, this, &SystemPanel::update);
}

QWidget* SystemPanel::createGpus() {
    sheets_ = new QStackedWidget;
    none_ = new widgets::EmptyState;
    none_->setObjectName("noGpus");
    sheets_->addWidget(widgets::verticalScroll(none_));
    gpus_ = new GpuModel(this);
    table_ = createTable(gpus_, "gpuTable", tr("GPUs of this machine"));
    sheets_->addWidget(table_);
    return sheets_;
}

/// When all this was so, then what changes rarely.
QWidget* SystemPanel::createFacts() {
    auto* surface = new widgets::Surface;
    auto* column = new QVBoxLayout(surface);
    column->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                               widgets::space::kGroup, widgets::space::kControl);
    column->setSpacing(widgets::space::kTight);
    auto* head = new QHBoxLayout;
    state_ = new widgets::ElidedLabel({}, widgets::TextStyle::Strong);
    head->addWidget(state_, 1);
    again_ = new QPushButton(widgets::icon("refresh"), tr("Look again"));
    again_->setObjectName("lookAgain");
    widgets::setCompact(again_);
    connect(again_, &QPushButton::clicked, this, [this] { studio_.machine().look(); });
    head->addWidget(again_);
    column->addLayout(head);
    facts_ = new QFormLayout;
    facts_->setHorizontalSpacing(widgets::space::kGroup);
    facts_->setVerticalSpacing(widgets::space::kTight);
    column->addLayout(facts_);
    column->addStretch(1);
    auto* scroll = widgets::verticalScroll(surface);
    scroll->setMinimumWidth(kLeastFactsWidth);
    return scroll;
}

// A low window takes it from the page, which scrolls.
void SystemPanel::keepHeight() {
    setMinimumHeight(
        static_cast<int>(kSystemPanelLeastHeight * widgets::Theme::current().fontScale()));
}

void SystemPanel::changeEvent(QEvent* event) {
    QWidget::changeEvent(event);
    if (event->type() == QEvent::FontChange) {
        keepHeight();
    }
}

void SystemPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    studio_.machine().lookOnce();
    update();
    fillFacts();
}

void SystemPanel::update() {
    if (!isVisible()) {
        return;
    }
    const MachineLook& machine = studio_.machine();
    again_->setEnabled(!machine.isLooking());
    if (!machine.facts()) {
        state_->setText(machine.isLooking() ? tr("looking…") : tr("not looked at"));
        none_->setTitle(machine.isLooking() ? tr("Looking at this machine…")
                                            : tr("This machine could not be looked at"));
        none_->setText(machine.problem());
        sheets_->setCurrentIndex(NoGpuSheet);
        return;
    }
    MachineFacts facts = *machine.facts();
    const auto& devices = studio_.run().devices();
    const bool live = studio_.isTraining() && devices &&
                      std::ranges::any_of(devices->devices, [](const auto& device) {
                          return device.gpu.has_value();
                      });
    if (live) {
        takeNews(facts, *devices);
    }
    const QString when =
        tr("as of %1").arg(QLocale().toString(machine.when().time(), QLocale::ShortFormat));
    state_->setText(machine.isLooking()            ? tr("looking…")
                    : !machine.problem().isEmpty() ? tr("%1; %2").arg(when, machine.problem())
                    : live ? tr("live, as %1 says").arg(studio_.run().name())
                           : when);
    none_->setTitle(tr("No GPU that a run can use"));
    none_->setText(sentences(facts.missing));
    sheets_->setCurrentIndex(facts.gpus.empty() ? NoGpuSheet : GpuSheet);
    gpus_->setGpus(std::move(facts.gpus));
    scrollColumns(table_, GpuModel::NameColumn);
}

void SystemPanel::fillFacts() {
    const auto& facts = studio_.machine().facts();
    if (!isVisible() || !facts) {
        return;
    }
    while (facts_->rowCount() > 0) {
        facts_->removeRow(0);
    }
    addFact(tr("processor"), tr("%1, %2 of %n core(s) usable", nullptr, facts->logical_cores)
                                 .arg(facts->cpu)
                                 .arg(facts->usable_cores));
    addFact(tr("memory"), tr("%1, %2 free")
                              .arg(widgets::formatMemory(facts->memory_bytes),
                                   widgets::formatMemory(facts->memory_free_bytes)));
    for (const auto& [pairs, text] : linksAlike(*facts)) {
        addFact(tr("between %1").arg(pairs), text);
    }
    for (const LibraryFacts& library : facts->libraries) {
        const bool missing = library.version.isEmpty();
        addFact(library.name, missing ? library.missing : library.version, missing);
    }
}

void SystemPanel::addFact(const QString& name, const QString& text, bool wrong) {
    using widgets::Role;
    auto* value =
        new widgets::TextLabel(text, widgets::TextStyle::Body, wrong ? Role::Warning : Role::Text);
    value->setWordWrap(true);
    value->setTextInteractionFlags(Qt::TextSelectableByMouse);
    facts_->addRow(new widgets::TextLabel(name, widgets::TextStyle::Body, Role::Muted), value);
}

} // namespace weft::ui
