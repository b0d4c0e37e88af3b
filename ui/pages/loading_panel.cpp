// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/loading_panel.h"

#include "core/base/machine.h"
#include "core/train/record/loader_watch.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/draft.h"
#include "ui/bridge/run/run_model.h"
#include "widgets/controls/card.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/painting.h"
#include "widgets/look/style.h"
#include "widgets/views/bar_list.h"

#include <QHBoxLayout>
#include <QPushButton>
#include <QVBoxLayout>

#include <array>
#include <cmath>
#include <utility>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextStyle;

/// Of the event, in the order of the work.
std::array<std::pair<QString, double>, 4> loadingStages(const train::LoaderEvent& told) {
    return {{{QObject::tr("Read"), told.read_ms},
             {QObject::tr("Decode"), told.decode_ms},
             {QObject::tr("Transform"), told.transform_ms},
             {QObject::tr("Batch"), told.batch_ms}}};
}

/// "num_workers" of "/data/num_workers".
QString fieldName(const std::string& pointer) {
    return toQString(pointer.substr(pointer.rfind('/') + 1));
}

} // namespace

LoadingPanel::LoadingPanel(RunModel& run, Draft& draft, QWidget* parent)
    : QWidget(parent), run_(run), draft_(draft), cores_(read_machine().usable_cores) {
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    auto* room = new QVBoxLayout;
    room->setContentsMargins(12, 8, 12, 8);
    room->setSpacing(widgets::space::kControl);
    header_ = new widgets::SectionHeader(tr("Preparing data"));
    column->addWidget(header_);
    bars_ = new widgets::BarList;
    bars_->setObjectName("loadingStages");
    bars_->setAccessibleName(tr("Milliseconds of work in each stage"));
    room->addWidget(bars_);
    rates_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    rates_->setObjectName("loadingRates");
    rates_->setWordWrap(true);
    room->addWidget(rates_);
    auto* line = new QHBoxLayout;
    sentence_ = new widgets::TextLabel({}, TextStyle::Caption, Role::Muted);
    sentence_->setObjectName("loadingSentence");
    sentence_->setProperty("isData", true); // the engine's words
    sentence_->setWordWrap(true);
    line->addWidget(sentence_, 1);
    set_ = new QPushButton;
    set_->setObjectName("loadingSet");
    widgets::setCompact(set_);
    line->addWidget(set_, 0, Qt::AlignTop);
    room->addLayout(line);
    column->addLayout(room);
    connect(set_, &QPushButton::clicked, this, [this] {
        if (!run_.loader()) {
            return;
        }
        const train::LoaderVerdict verdict = train::judge_loader(*run_.loader(), cores_);
        if (!verdict.pointer.empty()) {
            draft_.setField("data." + fieldName(verdict.pointer), verdict.value);
            update();
        }
    });
    connect(&run_, &RunModel::changed, this, &LoadingPanel::update);
    connect(&run_, &RunModel::reset, this, &LoadingPanel::update);
    connect(&draft_, &Draft::changed, this, &LoadingPanel::update);
    update();
}

void LoadingPanel::update() {
    setVisible(run_.loader().has_value());
    if (!run_.loader()) {
        return;
    }
    const train::LoaderVerdict verdict = train::judge_loader(*run_.loader(), cores_);
    sentence_->setRole(verdict.starved ? Role::Warning : Role::Muted);
    sentence_->setText(toQString(verdict.text + (verdict.hint.empty() ? "" : " " + verdict.hint)));
    // A draft that has it already needs no button.
    const config::Json::json_pointer at(verdict.pointer);
    const config::Json& document = draft_.document();
    const bool has_it = !verdict.pointer.empty() && document.is_object() && document.contains(at) &&
                        document.at(at) == verdict.value;
    set_->setVisible(!verdict.pointer.empty() && document.is_object() && !has_it);
    if (!verdict.pointer.empty()) {
        set_->setText(tr("Set to %1").arg(verdict.value));
        set_->setAccessibleName(
            tr("Set %1 to %2").arg(fieldName(verdict.pointer)).arg(verdict.value));
        set_->setToolTip(tr("Sets data.%1 in the draft: it holds from the next start on.")
                             .arg(fieldName(verdict.pointer)));
    }
    showStages();
}

void LoadingPanel::showStages() {
    const train::LoaderEvent& told = *run_.loader();
    header_->setSubtitle(tr("%1 · step %2").arg(run_.name(), widgets::formatCount(told.step)));
    std::vector<widgets::CountBar> bars;
    QStringList rates;
    for (const auto& [name, ms] : loadingStages(told)) {
        bars.push_back({name, std::llround(ms)});
        if (std::llround(ms) > 0) {
            rates << tr("%1 %2").arg(
                name.toLower(),
                widgets::formatCount(std::llround(1000 * static_cast<double>(told.samples) / ms)));
        }
    }
    bars_->setBars(std::move(bars), tr("ms"));
    rates_->setVisible(!rates.isEmpty());
    QString text = tr("Milliseconds of each stage. Samples a second and thread: %1.")
                       .arg(rates.join(tr(" · ")));
    if (told.prefetch > 0) {
        text += tr(" %1 of %2 batches wait ready.").arg(told.ready, 0, 'f', 1).arg(told.prefetch);
    }
    rates_->setText(text);
}

} // namespace weft::ui
