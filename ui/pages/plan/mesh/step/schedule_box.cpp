// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/plan/mesh/step/schedule_box.h"

#include "core/pipeline/schedule_list.h"
#include "ui/bridge/convert.h"
#include "ui/file_dialog.h"
#include "ui/pages/plan/mesh/zero_control.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text_label.h"
#include "widgets/mesh/stage_strip.h"

#include <QComboBox>
#include <QPointer>
#include <QPushButton>
#include <QScrollArea>
#include <QSignalBlocker>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

constexpr int kScheduleBoxLeastWords = 96;

QString countsText(const std::vector<int>& counts) {
    QStringList out;
    for (const int count : counts) {
        out.append(QString::number(count));
    }
    return out.join(QStringLiteral(" · "));
}

} // namespace

ScheduleBox::ScheduleBox(QWidget* parent) : QWidget(parent) {
    auto* outer = new QVBoxLayout(this);
    outer->setContentsMargins(0, 0, 0, 0);
    auto* panel = new widgets::Surface;
    outer->addWidget(panel);
    auto* column = new QVBoxLayout(panel);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    header_ = new widgets::SectionHeader(tr("Pipeline"));
    column->addWidget(header_);
    auto* holder = new QWidget;
    auto* inner = new QVBoxLayout(holder);
    inner->setContentsMargins(widgets::space::kGroup, widgets::space::kTight,
                              widgets::space::kGroup, widgets::space::kTight);
    inner->setSpacing(widgets::space::kTight);
    inner->addWidget(createChoices());
    inner->addWidget(createStages());
    strip_ = new widgets::StageStrip;
    strip_->setObjectName("stageStrip");
    connect(strip_, &widgets::StageStrip::countsChosen, this, &ScheduleBox::chooseStages);
    connect(strip_, &widgets::StageStrip::axisDropped, this, &ScheduleBox::layAlong);
    inner->addWidget(strip_);
    wrong_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Error);
    wrong_->setObjectName("scheduleProblem");
    wrong_->setWordWrap(true);
    wrong_->hide();
    inner->addWidget(wrong_);
    inner->addStretch(1);
    column->addWidget(widgets::verticalScroll(holder), 1);
}

QWidget* ScheduleBox::createChoices() {
    auto* line = new QWidget;
    auto* flow = new widgets::FlowLayout(line);
    flow->setContentsMargins(0, 0, 0, 0);
    flow->setSpacing(widgets::space::kControl);
    const auto label = [&](const QString& text) {
        flow->addWidget(new widgets::TextLabel(text, TextStyle::Caption, Role::Muted));
    };
    label(tr("Schedule"));
    schedule_ = new QComboBox;
    schedule_->setObjectName("pipelineSchedule");
    schedule_->setAccessibleName(tr("Schedule of the pipeline"));
    widgets::setCompact(schedule_);
    for (const pipeline::ScheduleDef& def : pipeline::schedule_list()) {
        schedule_->addItem(toQString(def.name));
        schedule_->setItemData(schedule_->count() - 1, toQString(def.help), Qt::ToolTipRole);
    }
    schedule_->addItem(tr("from a file…"));
    connect(schedule_, &QComboBox::activated, this, &ScheduleBox::chooseSchedule);
    flow->addWidget(schedule_);
    label(tr("ZeRO"));
    zero_ = new ZeroControl;
    zero_->setObjectName("rulesZero");
    connect(zero_, &widgets::SegmentedControl::currentIndexChanged, this, [this](int stage) {
        change(assignmentsOf(withZeroStage(MeshEdit::of(*config_), stage), *config_),
               tr("ZeRO stage %1").arg(stage));
    });
    flow->addWidget(zero_);
    return line;
}

QWidget* ScheduleBox::createStages() {
    auto* line = new QWidget;
    auto* row = new widgets::FlowLayout(line);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(widgets::space::kControl);
    words_ = new widgets::ElidedLabel({}, TextStyle::Caption, Role::Muted);
    words_->setObjectName("stageWords");
    words_->setMinimumWidth(kScheduleBoxLeastWords);
    words_->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Preferred);
    row->addWidget(words_);
    widths_ = new widgets::SegmentedControl;
    widths_->setObjectName("stageWidths");
    widths_->setAccessibleName(tr("Widths of the layers"));
    widths_->addSegment(tr("FLOPs"), tr("Layers as wide as their work"));
    widths_->addSegment(tr("Even"), tr("Layers of the same width"));
    widths_->setCompact(true);
    connect(widths_, &widgets::SegmentedControl::currentIndexChanged, this,
            [this](int index) { strip_->setEqual(index == 1); });
    row->addWidget(widths_);
    balanced_ = new QPushButton(tr("Balanced"));
    balanced_->setObjectName("stagesBalanced");
    balanced_->setToolTip(tr("Lets the plan spread the layers so that the dearest stage is as "
                             "cheap as can be"));
    widgets::setCompact(balanced_);
    connect(balanced_, &QPushButton::clicked, this,
            [this] { change({stagesAssignment(std::nullopt)}, tr("balanced stages")); });
    row->addWidget(balanced_);
    return line;
}

void ScheduleBox::show(std::shared_ptr<const compile::RunConfig> config,
                       std::shared_ptr<const PlanDigest> digest) {
    config_ = std::move(config);
    if (digest != digest_) {
        digest_ = std::move(digest);
        // A first plan without its training step leaves the layers that are known.
        if (StageEdit found = stageEdit(*digest_->plan); !found.layers.empty()) {
            stages_ = std::move(found);
        }
    }
    say({});
    renew();
}

void ScheduleBox::renew() {
    const config::Json& section = config_->section("mesh").at("pipeline");
    const bool from_file = !section.at("file").is_null();
    const QString file = from_file ? toQString(section.at("file").get<std::string>()) : QString();
    const int last = schedule_->count() - 1;
    {
        const QSignalBlocker quiet(schedule_);
        schedule_->setItemText(last, from_file ? file : tr("from a file…"));
        schedule_->setCurrentIndex(
            from_file ? last
                      : schedule_->findText(toQString(section.at("schedule").get<std::string>())));
    }
    zero_->setStage(MeshEdit::of(*config_).zero_stage);
    const QString axis = toQString(pipelineAxis(*config_));
    const bool piped = !axis.isEmpty();
    schedule_->setEnabled(piped);
    header_->setSubtitle(piped ? tr("layers along %1").arg(axis) : tr("no axis for the layers"));
    const bool own = hasOwnStages(*config_);
    balanced_->setEnabled(piped && own);
    words_->setText(!piped ? tr("Drop an axis here for a pipeline")
                    : own  ? tr("layers %1, as given").arg(countsText(stages_.counts))
                           : tr("layers %1, balanced").arg(countsText(stages_.counts)));
    std::vector<widgets::StripLayer> layers;
    for (const ModelLayer& layer : stages_.layers) {
        layers.push_back({toQString(layer.name), layer.flops});
    }
    strip_->setVisible(!layers.empty());
    if (!layers.empty()) {
        strip_->setParts(std::move(layers), stages_.counts, stages_.stages);
    }
}

void ScheduleBox::setStale(bool stale) {
    strip_->setStale(stale);
}

void ScheduleBox::chooseSchedule(int index) {
    if (index == schedule_->count() - 1) {
        chooseFile();
        return;
    }
    const QString name = schedule_->itemText(index);
    change({scheduleAssignment(name.toStdString()), scheduleFileAssignment({})},
           tr("schedule %1").arg(name));
}

void ScheduleBox::chooseFile() {
    const QPointer<ScheduleBox> here(this);
    const QString path =
        askForFile(this, {tr("A schedule of one's own"), FileUse::Configuration,
                          tr("Schedules (*.json);;All files (*)"), pathText(config_->base_dir)});
    if (path.isEmpty()) {
        if (here != nullptr) {
            renew();
        }
        return;
    }
    const std::filesystem::path file = toPath(path);
    const std::filesystem::path near = file.lexically_relative(config_->base_dir);
    const bool inside = !near.empty() && *near.begin() != "..";
    change({scheduleFileAssignment((inside ? near : file).string())},
           tr("the schedule of %1").arg(pathText(file.filename())));
}

void ScheduleBox::chooseStages(const std::vector<int>& counts) {
    change({stagesAssignment(counts)}, tr("stages of %1 layers").arg(countsText(counts)));
}

void ScheduleBox::layAlong(const QString& axis) {
    if (!config_) {
        return;
    }
    const std::string name = axis.toStdString();
    const QString wrong = pipelineProblem(*config_, name, static_cast<int>(stages_.layers.size()));
    if (!wrong.isEmpty()) {
        say(wrong);
        return;
    }
    change(withPipelineAlong(*config_, name), tr("layers along %1").arg(axis));
}

void ScheduleBox::change(const std::vector<std::string>& assignments, const QString& what) {
    const QString wrong = problemOf(*config_, assignments);
    if (wrong.isEmpty()) {
        emit adopted(assignments, what);
        return;
    }
    renew(); // what was chosen goes back to what is
    say(tr("%1: %2").arg(what, wrong));
}

void ScheduleBox::say(const QString& words) {
    wrong_->setText(words);
    wrong_->setVisible(!words.isEmpty());
}

} // namespace weft::ui
