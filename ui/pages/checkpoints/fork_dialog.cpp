// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/pages/checkpoints/fork_dialog.h"

#include "core/compile/programs/programs.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/place_text.h"
#include "ui/forms/field_group.h"
#include "ui/pages/checkpoints/draft_changes.h"
#include "ui/pages/checkpoints/fork_mesh.h"
#include "widgets/controls/text_label.h"
#include "widgets/curves/lr_curve.h"
#include "widgets/look/style.h"

#include <QDialogButtonBox>
#include <QKeyEvent>
#include <QPushButton>
#include <QRegularExpression>
#include <QScrollArea>
#include <QShortcut>
#include <QVBoxLayout>

#include <algorithm>
#include <cmath>
#include <span>

namespace weft::ui {
namespace {

constexpr QSize kForkDialogSize{640, 700}; // with two differences from the parent
constexpr QSize kForkDialogAround{48, 48}; // seen of the window behind it
constexpr int kForkRateHeight = 96;
constexpr int kForkRatePoints = 200;

struct ForkField {
    const char* pointer;
    const char* name;
};

constexpr ForkField kGeneral[] = {
    {"/name", QT_TRANSLATE_NOOP("weft::ui::ForkDialog", "name of the run")},
    {"/seed", QT_TRANSLATE_NOOP("weft::ui::ForkDialog", "seed")},
};
constexpr ForkField kTraining[] = {
    {"/optimizer/learning_rate", QT_TRANSLATE_NOOP("weft::ui::ForkDialog", "learning rate")},
    {"/training/max_grad_norm", QT_TRANSLATE_NOOP("weft::ui::ForkDialog", "clip gradients above")},
    {"/training/length",
     QT_TRANSLATE_NOOP("weft::ui::ForkDialog", "length, with what is trained already")},
    {"/training/precision", QT_TRANSLATE_NOOP("weft::ui::ForkDialog", "precision")},
};

/// "tiny-from-1200", also of a parent that is called "tiny-from-400".
std::string proposedName(const std::string& parent, std::int64_t step) {
    static const QRegularExpression kForked("-from-\\d+$");
    return (toQString(parent).remove(kForked) + "-from-").toStdString() + std::to_string(step);
}

} // namespace

ForkDialog::ForkDialog(const compile::RunConfig& parent_config, std::int64_t step,
                       std::int64_t total_steps, MachineLook& machine, QWidget* parent)
    : QDialog(parent), parent_(parent_config), step_(step), parent_steps_(total_steps),
      machine_(machine), source_(draft_) {
    config::Json document = parent_.document;
    document["name"] = proposedName(document.value("name", ""), step);
    draft_.setDocument(document, parent_.base_dir);
    setObjectName("forkDialog");
    setWindowTitle(tr("Fork from step %1").arg(formatCount(step)));
    resize(parent == nullptr
               ? kForkDialogSize
               : kForkDialogSize.boundedTo(parent->window()->size() - kForkDialogAround));
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(widgets::space::kSection, widgets::space::kMargin,
                               widgets::space::kSection, widgets::space::kMargin);
    column->setSpacing(widgets::space::kGroup);
    auto* what = new widgets::TextLabel(tr("A fork is a new run that starts from this checkpoint. "
                                           "The parent stays as it is. Change "
                                           "what should be different:"),
                                        widgets::TextStyle::Body, widgets::Role::Muted);
    what->setWordWrap(true);
    column->addWidget(what);
    form_ = createForm();
    column->addWidget(form_, 1);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    start_ = buttons->addButton(tr("Start fork"), QDialogButtonBox::AcceptRole);
    start_->setObjectName("startFork");
    start_->setDefault(true);
    widgets::setButtonKind(start_, widgets::ButtonKind::Primary);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    // Text boxes leave these keys to the draft they show.
    connect(new QShortcut(QKeySequence::Undo, this), &QShortcut::activated, this,
            [this] { draft_.undo(); });
    connect(new QShortcut(QKeySequence::Redo, this), &QShortcut::activated, this,
            [this] { draft_.redo(); });
    connect(&draft_, &Draft::changed, this, &ForkDialog::check);
    check();
}

// What edits the draft goes before it.
ForkDialog::~ForkDialog() {
    delete form_;
}

void ForkDialog::fill(const std::vector<std::string>& assignments) {
    for (const std::string& assignment : assignments) {
        const std::size_t equals = assignment.find('=');
        const std::string value = assignment.substr(equals + 1);
        const config::Json parsed = config::json_or_discarded(value);
        draft_.setField(toQString(assignment.substr(0, equals)),
                        parsed.is_discarded() ? config::Json(value) : parsed);
    }
}

// Enter starts the fork. Left to QDialog, it would press whichever small button of the form comes
// first.
void ForkDialog::keyPressEvent(QKeyEvent* event) {
    if (event->key() != Qt::Key_Return && event->key() != Qt::Key_Enter) {
        QDialog::keyPressEvent(event);
    } else if (auto* button = qobject_cast<QAbstractButton*>(focusWidget())) {
        button->click();
    } else {
        start_->click();
    }
}

// It scrolls, so that the dialog keeps its size whatever there is to say about the fields.
QWidget* ForkDialog::createForm() {
    auto* content = new QWidget;
    auto* column = new QVBoxLayout(content);
    column->setContentsMargins(0, 0, widgets::space::kControl, 0);
    column->setSpacing(widgets::space::kGroup);
    const auto section = [&](const QString& title, QWidget* part) {
        auto* heading = new widgets::TextLabel(title, widgets::TextStyle::Strong);
        heading->setContentsMargins(0, widgets::space::kControl, 0, 0);
        column->addWidget(heading);
        column->addWidget(part);
    };
    const auto fields = [&](std::span<const ForkField> list) {
        std::vector<std::string> pointers;
        for (const ForkField& field : list) {
            if (source_.field(field.pointer) != nullptr) { // an optimizer may do without a rate
                pointers.emplace_back(field.pointer);
            }
        }
        auto* group = new FieldGroup(source_, pointers);
        for (const ForkField& field : list) {
            if (FieldBox* box = group->box(field.pointer)) {
                box->setName(tr(field.name));
                boxes_.push_back(box);
            }
        }
        return group;
    };
    section(tr("Run"), fields(kGeneral));
    section(tr("Training"), fields(kTraining));
    section(tr("Mesh"), new ForkMesh(draft_, machine_));
    rate_ = new widgets::LrCurve;
    rate_->setObjectName("forkRate");
    rate_->setAccessibleName(tr("Learning rate of the fork"));
    rate_->setFixedHeight(kForkRateHeight);
    section(tr("Learning rate over the steps"), rate_);
    changes_ = new DraftChanges;
    column->addWidget(changes_);
    others_ = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Error);
    others_->setObjectName("forkProblems");
    others_->setWordWrap(true);
    column->addWidget(others_);
    column->addStretch(1);
    auto* scroll = new QScrollArea;
    scroll->setFrameShape(QFrame::NoFrame);
    scroll->setWidgetResizable(true);
    scroll->setWidget(content);
    return scroll;
}

// A mesh is taken as a whole: the patterns in it may have dots of their own.
std::vector<std::string> ForkDialog::overrides() const {
    std::vector<std::string> changed;
    bool mesh = false;
    for (const compile::FieldChange& change : draft_.differencesFrom(parent_)) {
        if (change.path.starts_with("mesh.")) {
            mesh = true;
        } else {
            changed.push_back(change.path + "=" + change.after.dump());
        }
    }
    if (mesh) {
        changed.push_back("mesh=" + draft_.config().section("mesh").dump());
    }
    return changed;
}

std::int64_t ForkDialog::totalSteps() const {
    const config::Json& own = draft_.config().section("training").at("length");
    const config::Json& before = parent_.section("training").at("length");
    if (own.contains("steps")) {
        return own.at("steps").get<std::int64_t>();
    }
    const std::string unit = own.begin().key();
    return before.contains(unit)
               ? std::llround(static_cast<double>(parent_steps_) * own.at(unit).get<double>() /
                              before.at(unit).get<double>())
               : std::int64_t{0};
}

// By the function that training uses; where it stands while something is wrong.
void ForkDialog::drawRate() {
    if (!draft_.isValid()) {
        return;
    }
    const compile::RunConfig& config = draft_.config();
    const double base = config.section("optimizer").value("learning_rate", 0.0);
    const std::int64_t total = totalSteps();
    std::vector<double> steps;
    std::vector<double> rates;
    for (int i = 0; i <= kForkRatePoints && total > 0; ++i) {
        const std::int64_t count = total * i / kForkRatePoints;
        steps.push_back(static_cast<double>(count));
        rates.push_back(base *
                        compile::learning_rate_factor(config.section("lr_schedule"), count, total));
    }
    rate_->setVisible(total > 0);
    rate_->setCurve(steps, rates);
    rate_->setReentry(static_cast<double>(step_), tr("begins here"));
}

// What is wrong stands below the field that caused it; here what no field shows.
void ForkDialog::check() {
    QStringList others;
    for (const config::Diagnostic& problem : draft_.diagnostics()) {
        const bool shown = std::any_of(boxes_.begin(), boxes_.end(), [&](const FieldBox* box) {
            return problem.pointer == box->pointer() ||
                   problem.pointer.starts_with(box->pointer() + "/");
        });
        if (!shown && problem.severity == config::Severity::error) {
            others << problemText(problem);
        }
    }
    others_->setText(others.join("\n"));
    changes_->show(parent_, draft_, tr("Different from the parent"));
    drawRate();
    start_->setEnabled(draft_.isValid());
}

} // namespace weft::ui
