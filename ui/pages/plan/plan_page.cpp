// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/plan_page.h"

#include "ui/actions.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/place_text.h"
#include "ui/pages/page_list.h"
#include "ui/pages/plan/memory/step_memory_panel.h"
#include "ui/pages/plan/memory/trade_off_panel.h"
#include "ui/pages/plan/memory/verdict_panel.h"
#include "ui/pages/plan/memory/what_if_panel.h"
#include "ui/pages/plan/mesh/mesh_panel.h"
#include "ui/pages/plan/moment/scrub_panel.h"
#include "ui/pages/plan/program/op_panel.h"
#include "ui/pages/plan/program/program_panel.h"
#include "ui/studio.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/shelf.h"
#include "widgets/look/icon.h"

#include <QComboBox>
#include <QMenu>
#include <QPushButton>
#include <QScopedValueRollback>
#include <QScrollArea>
#include <QShortcut>
#include <QStackedWidget>
#include <QStyle>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

constexpr int kPlanPageSideWidth = 352;
constexpr int kLowWindow = 700; // what can makes itself small; at text size 1
enum PlanPageSheet { PlanMessageSheet, PlanSheet, ProgramSheet, MeshSheet };
enum PlanPageTab { MeshTab, PlanTab, ProgramTab };

/// The first error, as it stands in the configuration.
const config::Diagnostic* first_error(const config::Diagnostics& diagnostics) {
    const auto found = std::find_if(diagnostics.begin(), diagnostics.end(), [](const auto& one) {
        return one.severity == config::Severity::error;
    });
    return found == diagnostics.end() ? nullptr : &*found;
}

/// As wide as what it scrolls up and down needs, also when the text grows.
class SideScroll : public QScrollArea {
public:
    QSize minimumSizeHint() const override {
        const int bar = style()->pixelMetric(QStyle::PM_ScrollBarExtent);
        return {std::max(kPlanPageSideWidth, widget()->minimumSizeHint().width() + bar),
                QScrollArea::minimumSizeHint().height()};
    }

protected:
    bool eventFilter(QObject* watched, QEvent* event) override {
        if (event->type() == QEvent::LayoutRequest) {
            updateGeometry();
        }
        return QScrollArea::eventFilter(watched, event);
    }
};

} // namespace

PlanPage::PlanPage(Studio& studio, Actions& actions)
    : studio_(studio), actions_(actions), preview_(studio.draft(), studio.planner()) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(createHeader());
    progress_ = new widgets::ProgressLine;
    progress_->setAccessibleName(tr("Planning"));
    column->addWidget(progress_);
    trouble_ = new widgets::Banner(widgets::MessageKind::Error);
    trouble_->setObjectName("planTrouble");
    trouble_->hide();
    stack_ = new QStackedWidget;
    message_ = new widgets::EmptyState("mesh");
    message_->setObjectName("planMessage");
    home_ = addHomeButton(*message_, studio_.draft());
    field_ = message_->addButton(tr("Show the field"));
    field_->setObjectName("planField");
    connect(field_, &QPushButton::clicked, this, &PlanPage::showWrongField);
    stack_->addWidget(message_);
    stack_->addWidget(createPlan());
    program_ = new ProgramPanel(preview_);
    stack_->addWidget(program_);
    scrub_ = new ScrubPanel;
    mesh_ = new MeshPanel(studio_, preview_, studio_.planner(), *scrub_);
    connect(mesh_, &MeshPanel::adopted, this, &PlanPage::adopt);
    connect(mesh_, &MeshPanel::hardwareWanted, this, &PlanPage::wantHardware);
    stack_->addWidget(mesh_);
    // At the top it would lie over the fields that it is about.
    auto* shelf = new widgets::Shelf(stack_, widgets::Shelf::Edge::Bottom);
    shelf->add(trouble_);
    column->addWidget(shelf, 1);
    column->addWidget(scrub_);
    connectMoment();
    connect(&preview_, &PlanPreview::changed, this, &PlanPage::update);
    connect(&preview_, &PlanPreview::whatIfChanged, this, &PlanPage::updateWhatIf);
    connect(&studio_.draft(), &Draft::changed, this, &PlanPage::updateTrouble);
    auto* find = new QShortcut(QKeySequence::Find, this);
    find->setContext(Qt::WidgetWithChildrenShortcut);
    connect(find, &QShortcut::activated, this, [this] {
        stack_->currentIndex() == ProgramSheet ? program_->focusSearch() : ops_->focusFilter();
    });
    update();
}

QWidget* PlanPage::createHeader() {
    auto* header =
        new widgets::SectionHeader(tr("Mesh & Plan"), widgets::SectionHeader::Level::Page);
    tab_ = new widgets::SegmentedControl({tr("Mesh"), tr("Plan"), tr("Program")});
    tab_->setObjectName("planTab");
    tab_->setAccessibleName(tr("Tab of the page"));
    tab_->setCurrentIndex(PlanTab);
    header->addControl(tab_);
    connect(tab_, &widgets::SegmentedControl::currentIndexChanged, this, &PlanPage::update);
    hardware_ = new QComboBox;
    hardware_->setObjectName("planHardware");
    hardware_->setAccessibleName(tr("Plan for"));
    hardware_->setToolTip(tr("Plan for this machine, or for hardware that need not be here"));
    hardware_->addItem(tr("This machine"));
    for (const cost::Hardware& one : cost::hardware_catalogue()) {
        hardware_->addItem(
            tr("%1, %2").arg(toQString(one.title), widgets::formatMemory(one.memory_bytes)));
    }
    connect(hardware_, &QComboBox::currentIndexChanged, this, [this](int index) {
        chosen_hardware_ = index > 0 ? index : chosen_hardware_;
        preview_.setHardware(
            index <= 0 ? nullptr
                       : &cost::hardware_catalogue()[static_cast<std::size_t>(index - 1)]);
    });
    header->addControl(hardware_);
    exporting_ = new QPushButton(widgets::icon("export"), tr("Export"));
    exporting_->setObjectName("planExport");
    auto* menu = new ExportMenu(
        this, [this] { return planned(); }, exporting_);
    connect(menu, &ExportMenu::done, this, &PlanPage::showWritten);
    exporting_->setMenu(menu);
    header->addControl(exporting_);
    return header;
}

QWidget* PlanPage::createPlan() {
    auto* splitter = new widgets::ThinSplitter(Qt::Horizontal, "planSplitter");
    auto* left = new widgets::ThinSplitter(Qt::Vertical, "planLeftSplitter");
    memory_ = new StepMemoryPanel;
    left->addWidget(memory_);
    ops_ = new OpPanel;
    ops_->setMinimumHeight(140);
    left->addWidget(ops_);
    left->setStretchFactor(0, 3);
    left->setStretchFactor(1, 2);
    splitter->addWidget(left);
    splitter->addWidget(createSide());
    splitter->setStretchFactor(0, 1);
    splitter->setStretchFactor(1, 0);
    splitter->setSizes({1440 - kPlanPageSideWidth, kPlanPageSideWidth});
    connect(memory_, &StepMemoryPanel::cursorChanged, ops_, &OpPanel::showOp);
    connect(ops_, &OpPanel::opChosen, memory_, &StepMemoryPanel::setCursor);
    return splitter;
}

QWidget* PlanPage::createSide() {
    auto* panel = new widgets::Surface;
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* verdict = new VerdictPanel(preview_);
    auto* what_if = new WhatIfPanel(preview_);
    auto* trade_off = new TradeOffPanel(preview_);
    column->addWidget(verdict);
    column->addWidget(new widgets::Hairline);
    column->addWidget(what_if);
    column->addWidget(new widgets::Hairline);
    column->addWidget(trade_off);
    column->addStretch(1);
    connect(verdict, &VerdictPanel::adopted, this, &PlanPage::adopt);
    connect(what_if, &WhatIfPanel::adopted, this, &PlanPage::adopt);
    connect(trade_off, &TradeOffPanel::adopted, this, &PlanPage::adopt);
    auto* scroll = new SideScroll;
    scroll->setObjectName("planSide");
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    scroll->setWidgetResizable(true);
    scroll->setWidget(panel);
    scroll->setFocusPolicy(Qt::NoFocus);
    return scroll;
}

widgets::NavState PlanPage::navState() const {
    switch (preview_.state()) {
    case PlanPreview::State::Invalid:
        return studio_.draft().isUnfinished() ? widgets::NavState::Empty : widgets::NavState::Error;
    case PlanPreview::State::Failed: return widgets::NavState::Error;
    case PlanPreview::State::Ready:
        return preview_.digest()->plan->fits() ? widgets::NavState::Valid
                                               : widgets::NavState::Error;
    case PlanPreview::State::Empty:
    case PlanPreview::State::Planning: break;
    }
    return widgets::NavState::Empty;
}

void PlanPage::showEvent(QShowEvent* event) {
    Page::showEvent(event);
    preview_.setActive(true);
}

void PlanPage::hideEvent(QHideEvent* event) {
    Page::hideEvent(event);
    preview_.setActive(false);
}

/// The mesh says whether it is planned for hardware; for which one was said before. All times
/// change with it, so it is told.
void PlanPage::wantHardware(bool wanted) {
    if (wanted == (hardware_->currentIndex() > 0)) {
        return;
    }
    const QString before = hardware_->currentText();
    hardware_->setCurrentIndex(wanted ? chosen_hardware_ : 0);
    emit toastRequested(static_cast<int>(widgets::MessageKind::Info),
                        wanted ? tr("Planned for %1 now").arg(hardware_->currentText())
                               : tr("Planned for this machine now, no longer for %1").arg(before),
                        nullptr);
}

/// What was chosen for another draft gives way to what this one names itself.
void PlanPage::followDraftsHardware(const cost::Hardware* named) {
    if (named == std::exchange(named_hardware_, named) || named == nullptr ||
        preview_.hardware() == nullptr || preview_.hardware() == named) {
        return;
    }
    const QString before = hardware_->currentText();
    hardware_->setCurrentIndex(0);
    emit toastRequested(static_cast<int>(widgets::MessageKind::Info),
                        tr("Planned for %1 now, which the draft names, no longer for %2")
                            .arg(toQString(named->title), before),
                        nullptr);
}

/// Without a choice here the draft decides, which may name hardware itself. On the mesh its switch
/// says where the draft computes: only which hardware is left to choose here.
void PlanPage::describeHardware() {
    const cost::Hardware* named = nullptr;
    if (studio_.draft().isValid()) {
        named = hardwareOf(studio_.draft().config(), nullptr);
        followDraftsHardware(named);
    }
    const auto& known = cost::hardware_catalogue();
    for (std::size_t i = 0; i < known.size() && hardware_->currentIndex() == 0; ++i) {
        chosen_hardware_ = &known[i] == named ? static_cast<int>(i) + 1 : chosen_hardware_;
    }
    hardware_->setVisible(tab_->currentIndex() != MeshTab || named != nullptr ||
                          hardware_->currentIndex() > 0);
    hardware_->setItemText(0, named == nullptr
                                  ? tr("This machine")
                                  : tr("%1, of the draft").arg(toQString(named->title)));
}

void PlanPage::update() {
    describeHardware();
    const auto digest = preview_.digest();
    const int tab = tab_->currentIndex();
    const PlanPageSheet page = tab == MeshTab      ? MeshSheet
                               : tab == ProgramTab ? ProgramSheet
                                                   : PlanSheet;
    // The mesh of an example was never drawn where the draft had a problem from the start.
    const bool bare =
        page == MeshSheet && preview_.state() == PlanPreview::State::Invalid && mesh_->isBare();
    stack_->setCurrentIndex(digest && !bare ? page : PlanMessageSheet);
    scrub_->setVisible(digest && !bare && page != ProgramSheet);
    scrub_->setProfileShown(page == MeshSheet);
    if (stack_->currentIndex() == PlanSheet) {
        showPlan();
    }
    const bool planning = preview_.state() == PlanPreview::State::Planning ||
                          (digest && (preview_.isStale() || !preview_.isComplete()));
    progress_->setBusy(planning && preview_.state() != PlanPreview::State::Invalid);
    exporting_->setEnabled(digest && preview_.isComplete());
    updateTrouble();
    emit navStateChanged();
}

void PlanPage::showPlan() {
    const ShownPlan plan{preview_.digest(), {}, preview_.isStale()};
    {
        const QScopedValueRollback settling(settling_, true);
        memory_->setPlan(plan);
    }
    ops_->setPlan(plan);
    scrub_->setPlan(plan); // on the mesh it may be the example's
    showMoment();
    ops_->showOp(memory_->cursor());
}

void PlanPage::connectMoment() {
    connect(scrub_, &ScrubPanel::momentChanged, this, &PlanPage::showMoment);
    connect(memory_, &StepMemoryPanel::cursorChanged, this, [this](int op) {
        if (!settling_) {
            scrub_->setOp(op);
        }
    });
}

// Before there is a moment the memory is at its peak. The mesh follows the scrubber itself.
void PlanPage::showMoment() {
    if (stack_->currentIndex() == PlanSheet && scrub_->moment().valid()) {
        const QScopedValueRollback settling(settling_, true);
        memory_->setCursor(scrub_->moment().op);
    }
}

void PlanPage::resizeEvent(QResizeEvent* event) {
    Page::resizeEvent(event);
    keepLow();
}

void PlanPage::changeEvent(QEvent* event) {
    Page::changeEvent(event);
    if (event->type() == QEvent::FontChange && mesh_ != nullptr) {
        keepLow();
    }
}

void PlanPage::keepLow() {
    const bool low = window()->height() <= kLowWindow * widgets::Theme::current().fontScale();
    scrub_->setLow(low);
    mesh_->setLow(low);
}

// In the place where the plan would be; over the last plan that there was when there was one.
void PlanPage::updateTrouble() {
    const bool invalid = preview_.state() == PlanPreview::State::Invalid;
    const bool failed = preview_.state() == PlanPreview::State::Failed;
    trouble_->setVisible(invalid && stack_->currentIndex() != PlanMessageSheet);
    trouble_->clearButtons();
    QString title;
    QString text;
    if (invalid && studio_.draft().isUnfinished()) {
        title = tr("Nothing to plan yet");
        text = tr("Choose the data and the model: this page then shows what the run will hold and "
                  "cost before it starts.");
    } else if (invalid) {
        const config::Diagnostic* error = first_error(studio_.draft().diagnostics());
        const auto errors = std::count_if(
            studio_.draft().diagnostics().begin(), studio_.draft().diagnostics().end(),
            [](const auto& one) { return one.severity == config::Severity::error; });
        title = tr("The draft has %n problem(s) and cannot be planned", nullptr,
                   static_cast<int>(errors));
        text = error == nullptr ? QString()
                                : (placeText(error->pointer) + ": " + toQString(error->message) +
                                   "\n" + toQString(error->hint))
                                      .trimmed();
    } else if (failed) {
        title = tr("The draft cannot be planned");
        text = preview_.problem() +
               (preview_.problemHint().isEmpty() ? "" : "\n" + preview_.problemHint());
    } else if (preview_.state() == PlanPreview::State::Empty) {
        title = tr("No draft to plan");
        text =
            tr("Choose a preset on Home or open a configuration: this page then shows what it will "
               "hold and cost before it starts.");
    } else if (preview_.state() == PlanPreview::State::Planning) {
        title = tr("Planning %1…").arg(studio_.draft().name());
    }
    message_->setIconName(invalid || failed ? "problems" : "mesh");
    message_->setTitle(title);
    message_->setText(text);
    home_->setVisible(preview_.state() == PlanPreview::State::Empty);
    field_->setVisible(invalid);
    if (trouble_->isVisibleTo(this)) {
        trouble_->setText(title, text);
        if (invalid) {
            connect(trouble_->addButton(tr("Show the field")), &QPushButton::clicked, this,
                    &PlanPage::showWrongField);
        }
        if (studio_.draft().canUndo()) {
            QPushButton* undo = trouble_->addButton(tr("Undo"));
            connect(undo, &QPushButton::clicked, actions_.get(action::kUndo), &QAction::trigger);
        }
    }
}

void PlanPage::showWrongField() {
    if (const config::Diagnostic* error = first_error(studio_.draft().diagnostics())) {
        emit fieldRequested(error->pointer);
    }
}

void PlanPage::updateWhatIf() {
    const auto other = preview_.whatIf();
    QStringList labels;
    for (const PlanChange& change : preview_.changes()) {
        if (preview_.chosen().contains(change.id)) {
            labels.append(change.label);
        }
    }
    const bool shown = other && !preview_.isStale();
    memory_->setGhost(shown ? other.get() : nullptr,
                      shown ? labels.join(", ") + ": " + widgets::formatMemory(other->peak_bytes)
                            : QString());
}

void PlanPage::adopt(const std::vector<std::string>& overrides, const QString& what) {
    studio_.draft().apply(overrides);
    emit toastRequested(static_cast<int>(widgets::MessageKind::Success),
                        tr("The draft now has: %1").arg(what), actions_.get(action::kUndo));
}

// What is drawn: on the tab Mesh the example, where the draft computes on one device.
PlannedRun PlanPage::planned() const {
    const bool mesh = tab_->currentIndex() == MeshTab && mesh_ != nullptr;
    const PlanPreview& preview = mesh ? mesh_->shown() : preview_;
    return {preview.config(), preview.digest()};
}

const PageRecord kPlanPage{
    "plan", QT_TRANSLATE_NOOP("Pages", "Mesh & Plan"), "mesh",
    [](Studio& studio, Actions& actions) -> Page* { return new PlanPage(studio, actions); }};

} // namespace weft::ui
