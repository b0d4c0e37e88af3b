// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/live/divergence/divergence_panel.h"

#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"
#include "ui/pages/live/divergence/array_card.h"
#include "widgets/controls/arranging.h"
#include "widgets/controls/flow_layout.h"
#include "widgets/controls/text_label.h"
#include "widgets/look/style.h"
#include "widgets/spread/norm_rows.h"
#include "widgets/views/image_grid.h"

#include <QComboBox>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

using widgets::Role;
using widgets::TextLabel;
using widgets::TextStyle;

constexpr int kArrayCardWidth = 280; // at text size 1
constexpr int kDivergenceCell = 84;

TextLabel* selectableWords(TextStyle style, Role role = Role::Text) {
    auto* out = new TextLabel({}, style, role);
    out->setWordWrap(true);
    out->setTextInteractionFlags(Qt::TextSelectableByMouse);
    return out;
}

} // namespace

DivergencePanel::DivergencePanel(RunModel& run, QWidget* parent) : QWidget(parent), run_(run) {
    setObjectName("divergencePanel");
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kMargin, widgets::space::kGroup,
                               widgets::space::kMargin, widgets::space::kMargin);
    column->setSpacing(widgets::space::kSection);
    column->addLayout(createHead());
    op_part_ = createOp();
    column->addWidget(op_part_);
    sample_part_ = createSamples();
    column->addWidget(sample_part_);
    norm_part_ = createNorms();
    column->addWidget(norm_part_);
    way_part_ = createWays();
    column->addWidget(way_part_);
    column->addStretch(1);
    connect(steps_, &QComboBox::activated, this,
            [this](int index) { read(steps_->itemData(index).toLongLong()); });
    connect(&run_, &RunModel::reset, this, &DivergencePanel::update);
    connect(&run_, &RunModel::divergenceAdded, this, &DivergencePanel::update);
    update();
}

QLayout* DivergencePanel::createHead() {
    auto* head = new QVBoxLayout;
    head->setSpacing(widgets::space::kControl);
    auto* line = new QHBoxLayout;
    message_ = selectableWords(TextStyle::Strong);
    message_->setObjectName("divergenceMessage");
    line->addWidget(message_, 1);
    steps_ = new QComboBox;
    steps_->setObjectName("divergenceStep");
    steps_->setAccessibleName(tr("Step that diverged"));
    widgets::setCompact(steps_);
    line->addWidget(steps_, 0, Qt::AlignTop);
    head->addLayout(line);
    outcome_ = selectableWords(TextStyle::Caption, Role::Muted);
    outcome_->setObjectName("divergenceOutcome");
    head->addWidget(outcome_);
    return head;
}

QWidget* DivergencePanel::createOp() {
    auto* op = new QWidget;
    auto* op_column = new QVBoxLayout(op);
    op_column->setContentsMargins(0, 0, 0, 0);
    op_column->setSpacing(widgets::space::kTight);
    op_ = selectableWords(TextStyle::Body);
    op_->setObjectName("divergenceOp");
    op_column->addWidget(op_);
    layer_ = selectableWords(TextStyle::Caption, Role::Muted);
    layer_->setObjectName("divergenceLayer");
    op_column->addWidget(layer_);
    op_column->addSpacing(widgets::space::kControl);
    auto* arrays = new QWidget;
    arrays_ = new widgets::FlowLayout(arrays);
    arrays_->setContentsMargins(0, 0, 0, 0);
    arrays_->setSpacing(widgets::space::kSection);
    arrays_->setLineSpacing(widgets::space::kMargin);
    arrays_->setItemAlignment(Qt::AlignTop);
    op_column->addWidget(arrays);
    return part(tr("First bad value"), op);
}

QWidget* DivergencePanel::createSamples() {
    auto* samples = new QWidget;
    auto* sample_column = new QVBoxLayout(samples);
    sample_column->setContentsMargins(0, 0, 0, 0);
    sample_column->setSpacing(widgets::space::kControl);
    batch_ = selectableWords(TextStyle::Caption, Role::Muted);
    batch_->setObjectName("divergenceBatch");
    sample_column->addWidget(batch_);
    pictures_ = new widgets::ImageGrid;
    pictures_->setObjectName("divergenceSamples");
    pictures_->setAccessibleName(tr("Samples of the batch"));
    pictures_->setCellWidth(kDivergenceCell);
    pictures_->setNotesExpected(true);
    sample_column->addWidget(pictures_);
    texts_ = new QWidget;
    text_lines_ = new QVBoxLayout(texts_);
    text_lines_->setContentsMargins(0, 0, 0, 0);
    text_lines_->setSpacing(widgets::space::kTight);
    sample_column->addWidget(texts_);
    return part(tr("Samples of this batch"), samples);
}

QWidget* DivergencePanel::createNorms() {
    auto* norms = new QWidget;
    auto* norm_column = new QVBoxLayout(norms);
    norm_column->setContentsMargins(0, 0, 0, 0);
    norm_column->setSpacing(widgets::space::kControl);
    norm_note_ = selectableWords(TextStyle::Caption, Role::Muted);
    norm_column->addWidget(norm_note_);
    norms_ = new widgets::NormRows;
    norms_->setObjectName("divergenceNorms");
    norms_->setAccessibleName(tr("Norms of gradients by layer"));
    norm_column->addWidget(norms_);
    return part(tr("Norms of gradients by layer"), norms);
}

QWidget* DivergencePanel::createWays() {
    auto* ways = new QWidget;
    ways_ = new widgets::FlowLayout(ways);
    ways_->setSpacing(widgets::space::kControl);
    ways_->setLineSpacing(widgets::space::kControl);
    ways_->setContentsMargins(0, 0, 0, 0);
    return part(tr("Ways on, each a new run"), ways);
}

QWidget* DivergencePanel::part(const QString& title, QWidget* body) {
    auto* out = new QWidget;
    auto* column = new QVBoxLayout(out);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(widgets::space::kControl);
    column->addWidget(new TextLabel(title, TextStyle::Heading));
    column->addWidget(body);
    return out;
}

void DivergencePanel::setTraining(bool training) {
    training_ = training;
    showWays();
}

// The newest of each step: a run that went back may meet one again.
void DivergencePanel::update() {
    std::vector<std::int64_t> steps;
    for (const train::DivergenceEvent& event : run_.divergences()) {
        if (!event.path.empty()) {
            std::erase(steps, event.step);
            steps.push_back(event.step);
        }
    }
    steps_->clear();
    for (const std::int64_t step : steps) {
        steps_->addItem(tr("Step %1").arg(formatCount(step)), QVariant::fromValue<qint64>(step));
    }
    steps_->setCurrentIndex(steps_->count() - 1);
    steps_->setVisible(steps_->count() > 1);
    if (steps.empty()) {
        wanted_ = 0;
        show({});
        return;
    }
    read(steps.back());
}

void DivergencePanel::read(std::int64_t step) {
    wanted_ = step;
    runInBackground(
        this, [run = run_.folder(), step] { return readDivergenceRecord(run, step); },
        [this, run = run_.folder(), step](DivergenceRecord record) {
            if (wanted_ == step && run_.folder() == run) { // no other was chosen meanwhile
                show(std::move(record));
            }
        });
}

void DivergencePanel::show(DivergenceRecord record) {
    record_ = std::move(record);
    // What was read stands below, array by array.
    message_->setText(
        record_.step > 0 || wanted_ == 0
            ? record_.message.section(" It read ", 0, 0)
            : tr("What was found of step %1 cannot be read any more.").arg(formatCount(wanted_)));
    const QString outcome =
        record_.back_to < 0 ? record_.hint
        : record_.passes_over > 0
            ? tr("The run went back to step %1 and left step %2 out.")
                  .arg(formatCount(record_.back_to), formatCount(record_.passes_over))
            : tr("The run went back to step %1 and repeated what followed, to find the update that "
                 "spoilt its weights.")
                  .arg(formatCount(record_.back_to));
    outcome_->setText(outcome);
    outcome_->setVisible(record_.step > 0 && !outcome.isEmpty());
    showOp();
    showArrays();
    showSamples();
    std::vector<widgets::NormRow> rows;
    for (const LayerNormRow& row : record_.norms) {
        rows.push_back({row.name, row.norms, row.bad});
    }
    norms_->setRows(std::move(rows), {record_.norm_steps.begin(), record_.norm_steps.end()});
    norm_note_->setText(record_.norms_of_parts
                            ? tr("Before clipping, on one logarithmic scale; of what one device "
                                 "holds.")
                            : tr("Before clipping, on one logarithmic scale."));
    norm_part_->setVisible(!record_.norms.empty());
    showWays();
}

void DivergencePanel::showOp() {
    op_part_->setVisible(record_.step > 0);
    if (record_.op.isEmpty()) {
        op_->setText(tr("Its replay stayed finite: where it began is not known."));
        layer_->clear();
        return;
    }
    const bool given = record_.op == "argument";
    op_->setText(given ? tr("It was there already: %1").arg(record_.layer)
                 : record_.group.isEmpty()
                     ? tr("%1 at %2").arg(record_.op, record_.layer)
                     : tr("%1 of %2 at %3").arg(record_.op, record_.group, record_.layer));
    layer_->setText(given ? tr("Nothing computed in this step made it.")
                          : tr("in the %1 pass").arg(record_.phase));
}

void DivergencePanel::showArrays() {
    widgets::clearLayout(*arrays_);
    if (record_.op.isEmpty()) {
        return;
    }
    const double scale = widgets::Theme::current().fontScale();
    const auto add = [&](const QString& role, const SeenArray& array) {
        auto* card = new ArrayCard(role, array);
        card->setFixedWidth(static_cast<int>(kArrayCardWidth * scale));
        card->setSizePolicy(QSizePolicy::Fixed,
                            QSizePolicy::Preferred); // shares nothing of its line
        arrays_->addWidget(card);
    };
    for (const SeenArray& array : record_.inputs) {
        add(tr("read"), array);
    }
    add(record_.op == "argument" ? tr("given") : tr("made"), record_.output);
}

void DivergencePanel::showSamples() {
    sample_part_->setVisible(!record_.samples.empty());
    const QString place = tr("Epoch %1, samples %2 to %3 of its order.")
                              .arg(formatCount(record_.epoch), formatCount(record_.first),
                                   formatCount(record_.first + record_.count - 1));
    const bool marked = std::any_of(record_.samples.begin(), record_.samples.end(),
                                    [](const BatchSample& sample) { return sample.suspect; });
    batch_->setText(marked ? tr("%1 Marked: whose value is not finite.").arg(place) : place);
    widgets::clearLayout(*text_lines_);
    std::vector<widgets::GridImage> images;
    for (const BatchSample& sample : record_.samples) {
        if (!sample.picture.isNull()) {
            images.push_back({sample.picture,
                              sample.name.isEmpty() ? tr("#%1").arg(sample.index) : sample.name,
                              {},
                              sample.suspect ? tr("not finite") : QString(),
                              sample.suspect});
            continue;
        }
        auto* label =
            selectableWords(TextStyle::Caption, sample.suspect ? Role::Error : Role::Text);
        QStringList said{sample.place};
        for (const QString& part : {sample.name, sample.text}) {
            if (!part.isEmpty()) {
                said << part;
            }
        }
        label->setText((sample.suspect ? QString::fromUtf8("▸ ") : QString()) + said.join("   "));
        text_lines_->addWidget(label);
    }
    texts_->setVisible(images.empty());
    pictures_->setVisible(!images.empty());
    pictures_->setImages(std::move(images));
}

void DivergencePanel::showWays() {
    widgets::clearLayout(*ways_);
    const bool offered = record_.back_to < 0 && !record_.ways.empty();
    way_part_->setVisible(offered);
    for (std::size_t i = 0; offered && i < record_.ways.size(); ++i) {
        const train::WayOn& way = record_.ways[i];
        auto* button = new QPushButton(toQString(way.label));
        button->setObjectName(QString("divergenceWay%1").arg(i));
        QStringList changes;
        for (const std::string& change : way.overrides) {
            changes << toQString(change);
        }
        button->setToolTip(training_ ? tr("Stop what is training first")
                                     : tr("A new run with %1").arg(changes.join(", ")));
        button->setEnabled(!training_);
        connect(button, &QPushButton::clicked, this, [this, way] { emit wayChosen(way); });
        ways_->addWidget(button);
    }
}

} // namespace weft::ui
