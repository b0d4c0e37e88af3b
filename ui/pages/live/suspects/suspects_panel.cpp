// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/suspects/suspects_panel.h"

#include "core/train/ways_on.h"
#include "ui/bridge/convert.h"
#include "ui/pages/table.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/controls.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/messages.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/views/image_grid.h"

#include <QComboBox>
#include <QHBoxLayout>
#include <QHeaderView>
#include <QKeyEvent>
#include <QPushButton>
#include <QSignalBlocker>
#include <QStackedWidget>
#include <QTableView>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using Kind = Decision::Kind;
using train::Suspicion;
using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kThumbnail = 28;
constexpr int kSuspectRow = 34;
constexpr int kLargePicture = 160;
enum SuspectSheet { SuspectMessageSheet, SuspectRowsSheet };
constexpr std::optional<Suspicion> kFilters[] = {
    std::nullopt, Suspicion::mislabelled, Suspicion::leak, Suspicion::duplicate, Suspicion::hard};

/// Twice the length of a run.
config::Json longer(const compile::RunConfig& config) {
    config::Json length = config.section("training").at("length");
    for (config::Json& count : length) {
        if (count.is_number_integer()) {
            count = 2 * count.get<std::int64_t>();
        } else if (count.is_number()) {
            count = 2 * count.get<double>();
        }
    }
    return length;
}

} // namespace

SuspectsPanel::SuspectsPanel(RunModel& run, const std::filesystem::path& worker, QWidget* parent)
    : QWidget(parent), run_(run), audit_(run, worker), looks_(run) {
    setObjectName("suspectsPanel");
    auto* whole = new QVBoxLayout(this);
    whole->setContentsMargins(0, 0, 0, 0);
    sheets_ = new QStackedWidget;
    empty_ = new widgets::EmptyState("search");
    empty_->setObjectName("suspectsEmpty");
    begin_ = empty_->addButton(tr("Look for suspects"));
    begin_->setObjectName("suspectsBegin");
    connect(begin_, &QPushButton::clicked, this,
            [this] { audit_.isRunning() ? audit_.cancel() : audit_.start(); });
    sheets_->addWidget(empty_);
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(12, 8, 12, 8);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(createHead());
    auto* splitter = new widgets::ThinSplitter(Qt::Vertical, "suspectsSplitter");
    table_ = createTable(&model_, "suspectTable", tr("Samples that teach wrongly"));
    scaleRows(table_, kSuspectRow);
    table_->setIconSize({kThumbnail, kThumbnail});
    table_->setItemDelegateForColumn(
        SuspectModel::CourseColumn,
        new widgets::SparklineDelegate(SuspectModel::kCourseRole, table_));
    table_->setMinimumHeight(4 * kSuspectRow);
    table_->installEventFilter(this);
    splitter->addWidget(table_);
    splitter->addWidget(createDetail());
    splitter->setStretchFactor(0, 3);
    splitter->setStretchFactor(1, 2);
    column->addWidget(splitter, 1);
    sheets_->addWidget(content);
    whole->addWidget(sheets_);
    connect(&audit_, &RunAudit::changed, this, &SuspectsPanel::update);
    connect(&audit_, &RunAudit::failed, this, &SuspectsPanel::troubled);
    connect(&audit_, &RunAudit::decided, this, [this](std::int64_t index) {
        model_.setDecision(index, audit_.decision(index));
        fit();
        updateButtons();
    });
    connect(&audit_, &RunAudit::written, this, [this](const std::filesystem::path& list) {
        const std::int64_t from =
            std::max<std::int64_t>(0, train::newest_checkpoint(run_.folder()));
        std::vector<std::string> changes{"data.corrections=" + config::Json(list.string()).dump()};
        if (from > 0 && from >= run_.totalSteps()) { // it is at its end: as long again
            changes.push_back("training.length=" + longer(run_.config()).dump());
        }
        emit forkRequested({tr("Fork with corrected samples").toStdString(), from, changes});
    });
    connect(table_->selectionModel(), &QItemSelectionModel::currentRowChanged, this,
            &SuspectsPanel::showChosen);
    update();
}

QWidget* SuspectsPanel::createHead() {
    auto* head = new QWidget;
    auto* line = new widgets::FlowLayout(head);
    line->setContentsMargins(0, 0, 0, 0);
    line->setSpacing(widgets::space::kControl);
    filter_ = new widgets::SegmentedControl(
        {tr("All"), tr("Mislabelled"), tr("Leaks"), tr("Twins"), tr("High loss")});
    filter_->setObjectName("suspectFilter");
    filter_->setAccessibleName(tr("Suspects to show"));
    filter_->setCompact(true);
    connect(filter_, &widgets::SegmentedControl::currentIndexChanged, this,
            &SuspectsPanel::showRows);
    line->addWidget(filter_);
    again_ = new QPushButton(tr("Look again"));
    again_->setObjectName("suspectsAgain");
    widgets::setCompact(again_);
    connect(again_, &QPushButton::clicked, this,
            [this] { audit_.isRunning() ? audit_.cancel() : audit_.start(); });
    line->addWidget(again_);
    fork_ = new QPushButton(tr("Fork with these corrections…"));
    fork_->setObjectName("suspectsFork");
    widgets::setCompact(fork_);
    connect(fork_, &QPushButton::clicked, &audit_, &RunAudit::writeList);
    line->addWidget(fork_);
    summary_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    summary_->setObjectName("suspectSummary");
    line->addWidget(summary_);
    return head;
}

QWidget* SuspectsPanel::createDetail() {
    auto* part = new QWidget;
    auto* column = new QVBoxLayout(part);
    column->setContentsMargins(0, widgets::space::kControl, 0, 0);
    column->setSpacing(widgets::space::kControl);
    why_ = new TextLabel({}, TextStyle::Strong);
    why_->setObjectName("suspectWhy");
    why_->setWordWrap(true);
    column->addWidget(why_);
    auto* line = new QHBoxLayout;
    line->setSpacing(widgets::space::kControl);
    const auto button = [&](const QString& text, const char* name, const QString& tip,
                            void (SuspectsPanel::*slot)()) {
        auto* out = new QPushButton(text);
        out->setObjectName(name);
        out->setToolTip(tip);
        widgets::setCompact(out);
        connect(out, &QPushButton::clicked, this, slot);
        line->addWidget(out);
        return out;
    };
    exclude_ = button(tr("Leave out"), "suspectExclude", tr("X"), &SuspectsPanel::exclude);
    relabel_ = button(tr("It is"), "suspectRelabel", tr("R: the class that the network says"),
                      &SuspectsPanel::relabel);
    classes_ = new QComboBox;
    classes_->setObjectName("suspectClass");
    classes_->setAccessibleName(tr("Its class"));
    line->addWidget(classes_);
    keep_ = button(tr("Keep"), "suspectKeep", tr("K"), &SuspectsPanel::keep);
    undo_ = button(tr("Undo"), "suspectUndo", tr("Ctrl+Z"), &SuspectsPanel::undo);
    line->addStretch(1);
    column->addLayout(line);
    words_ = new TextLabel({}, TextStyle::Caption, Role::Muted);
    words_->setObjectName("suspectWords");
    words_->setWordWrap(true);
    column->addWidget(words_);
    pictures_ = new widgets::ImageGrid;
    pictures_->setObjectName("suspectPictures");
    pictures_->setCellWidth(kLargePicture);
    pictures_->setCentredCaptions(true);
    column->addWidget(pictures_, 1);
    return part;
}

void SuspectsPanel::setTraining(bool training) {
    training_ = training;
    update();
}

void SuspectsPanel::update() {
    const auto& audit = audit_.audit();
    const bool running = audit_.isRunning();
    sheets_->setCurrentIndex(audit != nullptr ? SuspectRowsSheet : SuspectMessageSheet);
    empty_->setTitle(running             ? tr("Looking for suspects: %1").arg(audit_.progress())
                     : !audit_.isKnown() ? tr("Reading …")
                                         : tr("Which samples teach wrongly?"));
    empty_->setText(
        !audit_.problem().isEmpty() && !running
            ? audit_.problem()
            : tr("The run's checkpoints are asked about every training sample: which labels they "
                 "do "
                 "not believe, which samples are there twice or judge what they taught, and which "
                 "stay hard."));
    begin_->setText(running ? tr("Cancel") : tr("Look for suspects"));
    begin_->setVisible(audit_.isKnown() && !run_.isEmpty());
    again_->setText(running ? tr("Cancel") : tr("Look again"));
    if (audit != nullptr) {
        filter_->setSegmentText(1, tr("Mislabelled %1").arg(formatCount(audit->mislabelled)));
        filter_->setSegmentText(2, tr("Leaks %1").arg(formatCount(audit->leaks)));
        filter_->setSegmentText(3, tr("Twins %1").arg(formatCount(audit->duplicates)));
    }
    if (audit != shown_) { // progress alone leaves the rows as they are
        shown_ = audit;
        showRows();
    }
    updateButtons();
}

void SuspectsPanel::showRows() {
    const SuspectRow* before = chosen();
    const std::int64_t index = before != nullptr ? before->suspect.index : -1;
    model_.show(audit_.audit(), kFilters[filter_->currentIndex()], audit_);
    {
        const QSignalBlocker quiet(classes_);
        classes_->clear();
        const auto& audit = audit_.audit();
        for (std::size_t k = 0; audit != nullptr && k < audit->class_names.size(); ++k) {
            classes_->addItem(toQString(audit->class_names[k]));
        }
    }
    fit();
    if (model_.rowCount() > 0) {
        table_->selectRow(std::max(0, model_.rowOf(index)));
    }
    showChosen();
    readPictures();
}

void SuspectsPanel::fit() {
    fitColumns(table_, SuspectModel::BecauseColumn);
    const auto& rows = model_.rows();
    table_->setColumnHidden(SuspectModel::PictureColumn,
                            std::all_of(rows.begin(), rows.end(), [](const SuspectRow& row) {
                                return row.picture.isNull();
                            }));
}

void SuspectsPanel::readPictures() {
    std::vector<SampleName> names;
    for (const SuspectRow& row : model_.rows()) {
        names.push_back({"train", row.suspect.index});
    }
    if (!names.empty()) {
        looks_.read(std::move(names), 2 * kThumbnail, [this](const std::vector<SampleLook>& looks) {
            for (const SampleLook& look : looks) {
                model_.setPicture(look.sample.index, look.picture, look.words);
            }
            fit();
        });
    }
}

const SuspectRow* SuspectsPanel::chosen() const {
    const QModelIndex index = table_->currentIndex();
    return index.isValid() && index.row() < model_.rowCount() ? &model_.row(index.row()) : nullptr;
}

void SuspectsPanel::showChosen() {
    const SuspectRow* row = chosen();
    if (row == nullptr) {
        why_->setText(tr("No sample is chosen"));
        words_->setText({});
        pictures_->setImages({});
        updateButtons();
        return;
    }
    const train::Suspect& one = row->suspect;
    QStringList why{suspicionText(one)};
    if (one.margin) {
        why << tr("margin %1").arg(formatMetric(*one.margin));
    }
    why_->setText(
        tr("Sample %1: %2").arg(formatCount(one.index)).arg(why.join(QStringLiteral(", "))));
    if (one.says >= 0 && one.says < classes_->count()) {
        classes_->setCurrentIndex(row->decision.kind == Kind::Label ? row->decision.label
                                                                    : one.says);
    }
    std::vector<SampleName> names{{"train", one.index}};
    for (const train::Twin& twin : one.twins) {
        names.push_back({twin.part, twin.index});
    }
    looks_.read(
        names, kLargePicture, [this, wanted = one.index](const std::vector<SampleLook>& looks) {
            const SuspectRow* now = chosen();
            if (now == nullptr || now->suspect.index != wanted) {
                return;
            }
            std::vector<widgets::GridImage> images;
            QStringList lines;
            for (const SampleLook& look : looks) {
                const QString name =
                    tr("%1 %2").arg(toQString(look.sample.part), formatCount(look.sample.index));
                const QString label = model_.className(look.label);
                if (look.picture.isNull()) {
                    lines << tr("%1 (%2): %3").arg(name, label, look.words);
                } else {
                    widgets::GridImage image;
                    image.image = look.picture;
                    image.caption = tr("%1: %2").arg(name, label);
                    images.push_back(std::move(image));
                }
            }
            words_->setText(lines.join(QLatin1Char('\n')));
            words_->setVisible(!lines.isEmpty());
            pictures_->setImages(std::move(images));
        });
    updateButtons();
}

void SuspectsPanel::updateButtons() {
    const SuspectRow* row = chosen();
    const bool some = row != nullptr;
    exclude_->setEnabled(some);
    keep_->setEnabled(some);
    const bool classes = audit_.audit() != nullptr && audit_.audit()->has_classes;
    relabel_->setVisible(classes);
    classes_->setVisible(classes);
    relabel_->setEnabled(some && classes_->count() > 0);
    undo_->setEnabled(audit_.canUndo());
    const int excluded = audit_.countOf(Kind::Exclude);
    const int labelled = audit_.countOf(Kind::Label);
    const auto& audit = audit_.audit();
    QStringList parts;
    if (excluded > 0) {
        parts << tr("%n left out", nullptr, excluded);
    }
    if (labelled > 0) {
        parts << tr("%n with another class", nullptr, labelled);
    }
    if (parts.isEmpty() && audit != nullptr) {
        parts << tr("%n checkpoint(s), %1 samples", nullptr,
                    static_cast<int>(audit->checkpoints.size()))
                     .arg(formatCount(audit->samples));
    }
    if (audit_.isRunning()) {
        parts << audit_.progress();
    }
    summary_->setText(parts.join(QStringLiteral(", ")));
    fork_->setEnabled(!training_ && excluded + labelled > 0);
    fork_->setToolTip(training_ ? tr("When nothing trains")
                      : excluded + labelled > 0
                          ? tr("The list is written beside the data, which stay as they are")
                          : tr("Nothing is decided yet"));
}

void SuspectsPanel::decide(Decision decision) {
    const SuspectRow* row = chosen();
    if (row == nullptr) {
        return;
    }
    const int next = std::min(table_->currentIndex().row() + 1, model_.rowCount() - 1);
    audit_.decide(row->suspect.index, decision);
    table_->selectRow(next);
}

void SuspectsPanel::exclude() {
    decide({Kind::Exclude, -1});
}

void SuspectsPanel::relabel() {
    if (classes_->currentIndex() >= 0) {
        decide({Kind::Label, classes_->currentIndex()});
    }
}

void SuspectsPanel::keep() {
    decide({Kind::Keep, -1});
}

void SuspectsPanel::undo() {
    if (const auto index = audit_.undo()) {
        if (const int row = model_.rowOf(*index); row >= 0) {
            table_->selectRow(row);
        }
    }
}

bool SuspectsPanel::eventFilter(QObject* watched, QEvent* event) {
    if (watched == table_ && event->type() == QEvent::KeyPress) {
        const auto* key = static_cast<QKeyEvent*>(event);
        if (key->matches(QKeySequence::Undo)) {
            undo();
            return true;
        }
        if (key->modifiers() == Qt::NoModifier) {
            switch (key->key()) {
            case Qt::Key_X: exclude(); return true;
            case Qt::Key_R: relabel(); return true;
            case Qt::Key_K: keep(); return true;
            default: break;
            }
        }
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace weft::ui
