// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/try_panel.h"

#include "core/base/error.h"
#include "core/compile/config/metric_facts.h"
#include "core/data/dataset.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/pages/live/checkpoint_choice.h"
#include "ui/pages/live/recursion/try_board.h"
#include "ui/pages/live/try_input.h"
#include "ui/pages/live/try_samples.h"
#include "ui/pages/live/try_text.h"
#include "widgets/controls/card.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/text_label.h"
#include "widgets/views/probability_bars.h"
#include "widgets/views/sketch_pad.h"

#include <QDragEnterEvent>
#include <QDropEvent>
#include <QPushButton>
#include <QVBoxLayout>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kTryPanelSoonMs = 60; // a stroke is many small changes
constexpr std::size_t kMostOutputs = 12;

struct Learned {
    data::SampleInfo info;
    QString problem;
};

/// Of every class: its name, or its number.
QStringList classNames(const data::SampleInfo& info) {
    QStringList out;
    for (std::int64_t i = 0; i < info.classes; ++i) {
        const auto at = static_cast<std::size_t>(i);
        out << (at < info.class_names.size() ? toQString(info.class_names[at])
                                             : QString::number(i));
    }
    return out;
}

Learned learn(const compile::RunConfig& config) {
    try {
        return {data::outline_data(config.section("data"),
                                   {config.base_dir, config.context(), config.seed})
                    .sample,
                {}};
    } catch (const Error& error) {
        return {{}, toQString(error.message())};
    }
}

} // namespace

TryPanel::TryPanel(RunModel& run, TrialHost& host, SamplePictures& pictures, QWidget* parent)
    : QWidget(parent), run_(run), host_(host), pictures_(pictures) {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(8);
    auto* line = new QHBoxLayout;
    checkpoint_ = new CheckpointChoice(run_);
    checkpoint_->setObjectName("tryCheckpoint");
    line->addWidget(checkpoint_);
    line->addStretch(1);
    look_ = new QPushButton(tr("Look inside"));
    look_->setObjectName("tryLook");
    widgets::setCompact(look_);
    line->addWidget(look_);
    column->addLayout(line);
    loading_ = new widgets::ProgressLine;
    column->addWidget(loading_);
    input_ = new TryInput(pictures);
    text_ = new TryText;
    samples_ = new TrySamples;
    board_ = new TryBoard;
    for (QWidget* one : inputs()) {
        column->addWidget(one);
    }
    result_ = new QWidget;
    auto* inner = new QVBoxLayout(result_);
    inner->setContentsMargins(0, 0, 0, 0);
    inner->setSpacing(8);
    answer_ = new TextLabel({}, TextStyle::Mono);
    answer_->setObjectName("tryAnswer");
    answer_->setWordWrap(true);
    answer_->setTextInteractionFlags(Qt::TextSelectableByMouse | Qt::TextSelectableByKeyboard);
    inner->addWidget(answer_);
    bars_ = new widgets::ProbabilityBars;
    bars_->setObjectName("tryBars");
    inner->addWidget(bars_);
    column->addWidget(result_);
    note_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    note_->setObjectName("tryNote");
    note_->setWordWrap(true);
    column->addWidget(note_);
    column->addStretch(1);
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    whole->addWidget(widgets::verticalScroll(content));

    soon_.setSingleShot(true);
    soon_.setInterval(kTryPanelSoonMs);
    connect(&soon_, &QTimer::timeout, this, &TryPanel::predict);
    connect(&run_, &RunModel::reset, this, &TryPanel::onReset);
    connect(checkpoint_, &CheckpointChoice::checkpointChanged, this, &TryPanel::updateState);
    connect(checkpoint_, &CheckpointChoice::checkpointChanged, this, &TryPanel::predictSoon);
    connect(input_, &TryInput::changed, this, &TryPanel::predictSoon);
    connect(samples_, &TrySamples::changed, this, &TryPanel::predictSoon);
    connect(input_, &TryInput::objected, this,
            [this](const QString& problem) { say(problem, true); });
    connect(look_, &QPushButton::clicked, this, [this] {
        emit lookRequested();
        look();
    });
    connect(text_, &TryText::changed, this, [this] {
        updateLook();
        soon_.start();
    });
    connect(text_, &TryText::wanted, this, [this] {
        say({});
        text_->begin();
        host_.generate(checkpoint_->checkpoint(), text_->prompt(), text_->options());
    });
    connect(text_, &TryText::stopped, this, [this] {
        host_.cancelGenerate();
        text_->end();
    });
    connect(board_, &TryBoard::wanted, this, [this](const QString& board) {
        say({});
        host_.solve(checkpoint_->checkpoint(), board);
    });
    connect(&host_, &TrialHost::solved, this, [this](std::shared_ptr<const SolvedBoard> solved) {
        say(tr("By the weights of step %1.").arg(formatCount(solved->step)));
        board_->showSolved(std::move(solved));
    });
    connect(&host_, &TrialHost::loading, loading_, &widgets::ProgressLine::setBusy);
    connect(&host_, &TrialHost::predicted, this, &TryPanel::showPrediction);
    connect(&host_, &TrialHost::made, this, &TryPanel::showMade);
    connect(&host_, &TrialHost::generated, text_, &TryText::append);
    connect(&host_, &TrialHost::generationEnded, text_, &TryText::end);
    connect(&host_, &TrialHost::failed, this, [this](const QString& kind, const QString& problem) {
        if (kind == "generate") {
            text_->end();
        }
        if (kind == "solve") {
            board_->showSolved(nullptr);
        }
        if (kind != "confuse" && kind != "look") {
            say(problem, true);
        }
    });
    setAcceptDrops(true);
    onReset();
}

void TryPanel::onReset() {
    host_.release();
    text_->end();
    loading_->setBusy(false);
    takes_ = Takes::Unknown;
    bars_->setBars({});
    answer_->setText({});
    updateState();
    if (isVisible()) {
        learnInput();
    }
}

void TryPanel::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    learnInput();
}

// Beside the pad the window would open the picture as data to train on.
void TryPanel::dragEnterEvent(QDragEnterEvent* event) {
    const bool pictures = takes_ == Takes::Numbers && input_->takesPictures();
    event->setAccepted(pictures && widgets::SketchPad::canTake(event->mimeData()));
}

void TryPanel::dropEvent(QDropEvent* event) {
    input_->pad().take(event->mimeData());
}

void TryPanel::learnInput() {
    if (takes_ != Takes::Unknown || learning_ || run_.isEmpty()) {
        return;
    }
    if (run_.isForeign()) {
        say(tr("Another program trains this run: its model cannot be tried here."));
        return;
    }
    learning_ = true;
    runInBackground(
        this, [config = run_.config()] { return learn(config); },
        [this, folder = run_.folder()](const Learned& learned) {
            learning_ = false;
            if (folder != run_.folder()) {
                learnInput();
            } else if (!learned.problem.isEmpty()) {
                takeProblem(learned.problem);
            } else if (learned.info.input_names.empty()) {
                takeInfo(learned.info, nullptr);
            } else {
                openTable(learned.info);
            }
        });
}

void TryPanel::takeInfo(const data::SampleInfo& info, std::shared_ptr<const data::Encoding> table) {
    const bool text = run_.config().context() > 0 && info.input.dtype == ir::DType::i32;
    takes_ = compile::makes_samples(run_.config())                  ? Takes::Seeds
             : info.board && compile::works_in_steps(run_.config()) ? Takes::Board
             : text                                                 ? Takes::Text
             : info.input.dtype == ir::DType::f32                   ? Takes::Numbers
                                                                    : Takes::Other;
    if (takes_ == Takes::Numbers) {
        input_->setType(info.input, std::move(table));
        bars_->setRows(static_cast<int>(std::clamp<std::int64_t>(info.classes, 1, 5)));
    }
    if (takes_ == Takes::Seeds) {
        samples_->setClasses(compile::makes_samples_of_a_class(run_.config()) ? classNames(info)
                                                                              : QStringList());
        predictSoon();
    }
    if (takes_ == Takes::Board) {
        board_->setForm(*info.board);
    }
    updateState();
}

// How a table's cells become numbers is known once the data is open.
void TryPanel::openTable(const data::SampleInfo& info) {
    loading_->setBusy(true);
    pictures_.read(this, {}, [this, info](const SampleSet& samples) {
        loading_->setBusy(false);
        if (samples.problem.isEmpty()) {
            takeInfo(info, samples.encoding);
        } else {
            takeProblem(samples.problem);
        }
    });
}

void TryPanel::takeProblem(const QString& problem) {
    takes_ = Takes::Other;
    updateState();
    say(problem, true);
}

std::array<QWidget*, 4> TryPanel::inputs() const {
    return {input_, text_, samples_, board_};
}

void TryPanel::updateState() {
    const bool any = !checkpoint_->checkpoint().empty();
    const QWidget* const front = takes_ == Takes::Numbers ? static_cast<QWidget*>(input_)
                                 : takes_ == Takes::Text  ? text_
                                 : takes_ == Takes::Seeds ? samples_
                                 : takes_ == Takes::Board ? static_cast<QWidget*>(board_)
                                                          : nullptr;
    for (QWidget* one : inputs()) {
        one->setVisible(one == front);
    }
    result_->setVisible(takes_ == Takes::Numbers);
    updateLook();
    board_->setBlocked(any ? QString() : tr("There is no checkpoint yet"));
    text_->setBlocked(any ? QString() : tr("There is no checkpoint yet"));
    if (takes_ == Takes::Other) {
        say(tr("There is no way yet to type in what this model takes."));
    } else if (!any) {
        say(tr("Nothing can be tried before the first checkpoint. Save one with F8."));
    } else if (bars_->bars().empty() && answer_->text().isEmpty()) {
        say(takes_ == Takes::Text    ? tr("The same text as “weft generate” writes.")
            : takes_ == Takes::Seeds ? tr("From one sample to another, along the arc between what "
                                          "they are made of.")
                                     : tr("The same numbers as “weft predict” gives."));
    }
}

void TryPanel::say(const QString& words, bool wrong) {
    note_->setText(words);
    note_->setRole(wrong && !words.isEmpty() ? Role::Error : Role::Muted);
}

void TryPanel::setLooking(bool looking) {
    looking_ = looking;
    if (looking_) {
        look();
    }
}

// Of the numbers, or of the text with what was written behind it.
void TryPanel::look() {
    const auto checkpoint = checkpoint_->checkpoint();
    if (checkpoint.empty()) {
        return;
    }
    if (takes_ == Takes::Text) {
        if (const QByteArray text = text_->whole(); !text.isEmpty()) {
            host_.lookAtText(checkpoint, text);
        }
    } else if (const auto values = takes_ == Takes::Numbers ? input_->values() : std::nullopt) {
        host_.look(checkpoint, *values);
    }
}

// Why nothing can be looked at is its tip.
void TryPanel::updateLook() {
    look_->setVisible(takes_ == Takes::Numbers || takes_ == Takes::Text);
    const bool any = takes_ == Takes::Text ? !text_->whole().isEmpty()
                                           : takes_ == Takes::Numbers && input_->values();
    const bool saved = !checkpoint_->checkpoint().empty();
    look_->setEnabled(any && saved);
    look_->setToolTip(!saved                          ? tr("There is no checkpoint yet")
                      : !any && takes_ == Takes::Text ? tr("Write a text first")
                      : !any                          ? tr("Give the model something first")
                             : tr("Feature maps of every layer, and what attention looks at"));
}

void TryPanel::predictSoon() {
    updateLook();
    if (takes_ == Takes::Numbers || takes_ == Takes::Seeds) {
        soon_.start();
    }
}

void TryPanel::predict() {
    if (looking_) {
        look();
    }
    if (takes_ == Takes::Text) {
        return;
    }
    if (takes_ == Takes::Seeds) {
        if (!checkpoint_->checkpoint().empty()) {
            host_.make(checkpoint_->checkpoint(), samples_->walk());
        }
        return;
    }
    const auto values = input_->values();
    if (!values) {
        bars_->setBars({});
        answer_->setText({});
        return;
    }
    if (!checkpoint_->checkpoint().empty()) {
        host_.predict(checkpoint_->checkpoint(), *values);
    }
}

void TryPanel::showMade(const std::vector<QImage>& pictures, qint64 step) {
    samples_->setPictures(pictures);
    say(tr("By the weights of step %1.").arg(formatCount(step)));
}

void TryPanel::showPrediction(const TrialPrediction& prediction) {
    std::vector<widgets::ProbabilityBar> bars;
    for (const auto& [index, share] : prediction.top) {
        bars.push_back({index < prediction.class_names.size() ? prediction.class_names[index]
                                                              : QString::number(index),
                        share});
    }
    QStringList outputs;
    for (std::size_t i = 0; prediction.top.empty() && i < prediction.values.size(); ++i) {
        if (i == kMostOutputs) {
            outputs << tr("and %1 more").arg(prediction.values.size() - i);
            break;
        }
        const QString value = QString::number(prediction.values[i], 'g', 6);
        const auto at = static_cast<qsizetype>(i);
        outputs << (at < prediction.output_names.size()
                        ? tr("%1: %2").arg(prediction.output_names[at], value)
                        : value);
    }
    answer_->setText(outputs.join(prediction.output_names.isEmpty() ? "  " : "\n"));
    answer_->setVisible(!outputs.isEmpty());
    bars_->setVisible(!bars.empty());
    bars_->setBars(std::move(bars));
    say(tr("By the weights of step %1.").arg(formatCount(prediction.step)));
}

} // namespace weft::ui
