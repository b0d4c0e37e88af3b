// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/screens/checkpoints/fork_dialog.h"

#include "ui/bridge/convert.h"
#include "widgets/style.h"
#include "widgets/text_label.h"

#include <QDialogButtonBox>
#include <QFormLayout>
#include <QLineEdit>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace weft::ui {
namespace {

constexpr int kWidth = 640; // a problem with its hint mostly fits on one line

constexpr std::pair<const char*, const char*> kFields[] = {
    {"name", QT_TRANSLATE_NOOP("ForkDialog", "Name")},
    {"optimizer.learning_rate", QT_TRANSLATE_NOOP("ForkDialog", "Learning rate")},
    {"training.length", QT_TRANSLATE_NOOP("ForkDialog", "Length")},
    {"training.max_grad_norm", QT_TRANSLATE_NOOP("ForkDialog", "Clip gradients above")},
    {"training.precision", QT_TRANSLATE_NOOP("ForkDialog", "Precision")},
    {"seed", QT_TRANSLATE_NOOP("ForkDialog", "Seed")},
    {"mesh.devices", QT_TRANSLATE_NOOP("ForkDialog", "Devices")},
    {"mesh.strategy", QT_TRANSLATE_NOOP("ForkDialog", "Strategy")},
    {"mesh.axes", QT_TRANSLATE_NOOP("ForkDialog", "Mesh axes")},
};

std::string value_text(const config::Json& document, const std::string& dotted) {
    const config::Json* at = &document;
    std::size_t begin = 0;
    while (begin <= dotted.size()) {
        const std::size_t dot = std::min(dotted.find('.', begin), dotted.size());
        const auto found = at->find(dotted.substr(begin, dot - begin));
        if (found == at->end()) {
            return {};
        }
        at = &*found;
        begin = dot + 1;
    }
    return at->is_string() ? at->get<std::string>() : at->dump();
}

bool belongs_to(const std::string& pointer, const std::string& dotted) {
    std::string field = "/" + dotted;
    std::replace(field.begin(), field.end(), '.', '/');
    return pointer == field || pointer.starts_with(field + "/");
}

/// Place, what is wrong, what to do: "/seed: expected an integer, found the text \"x\". Remove it."
QString line_of(const config::Diagnostic& problem) {
    QString line = problem.pointer.empty() ? QString() : toQString(problem.pointer) + ": ";
    line += toQString(problem.message);
    return problem.hint.empty() ? line : line + ". " + toQString(problem.hint);
}

widgets::TextLabel* problemLabel() {
    auto* label = new widgets::TextLabel({}, widgets::TextStyle::Caption, widgets::Role::Error);
    label->setWordWrap(true);
    // One line is kept free, so that the dialog does not jump while one types.
    label->setMinimumHeight(label->fontMetrics().height());
    return label;
}

} // namespace

ForkDialog::ForkDialog(const compile::RunConfig& parent_config, std::int64_t step, QWidget* parent)
    : QDialog(parent), config_(parent_config) {
    setObjectName("forkDialog");
    setWindowTitle(tr("Fork from step %1").arg(formatCount(step)));
    setMinimumWidth(kWidth);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(24, 20, 24, 20);
    column->setSpacing(widgets::space::kGroup);
    auto* what = new widgets::TextLabel(tr("A fork is a new run that starts from this checkpoint. "
                                           "The parent stays as it is. Change "
                                           "what should be different:"),
                                        widgets::TextStyle::Body, widgets::Role::Muted);
    what->setWordWrap(true);
    column->addWidget(what);
    auto* form = new QFormLayout;
    form->setHorizontalSpacing(widgets::space::kMargin);
    form->setVerticalSpacing(widgets::space::kTight);
    for (const auto& [path, label] : kFields) {
        const std::string before = value_text(config_.document, path);
        auto* edit = new QLineEdit(toQString(before));
        edit->setObjectName(QString("fork.") + path);
        widgets::setTextStyle(edit, widgets::TextStyle::Mono);
        connect(edit, &QLineEdit::textChanged, this, &ForkDialog::check);
        edit->setAccessibleName(tr(label));
        form->addRow(tr(label), edit);
        auto* problem = problemLabel();
        problem->setObjectName(QString("forkProblem.") + path);
        form->addRow(QString(), problem);
        entries_.push_back({path, before, edit, problem});
    }
    column->addLayout(form);
    others_ = problemLabel();
    others_->setObjectName("forkProblems");
    column->addWidget(others_);
    auto* buttons = new QDialogButtonBox(QDialogButtonBox::Cancel);
    start_ = buttons->addButton(tr("Start fork"), QDialogButtonBox::AcceptRole);
    start_->setObjectName("startFork");
    start_->setDefault(true);
    widgets::setButtonKind(start_, widgets::ButtonKind::Primary);
    connect(buttons, &QDialogButtonBox::accepted, this, &QDialog::accept);
    connect(buttons, &QDialogButtonBox::rejected, this, &QDialog::reject);
    column->addWidget(buttons);
    check();
}

std::vector<std::string> ForkDialog::overrides() const {
    std::vector<std::string> changed;
    for (const Entry& entry : entries_) {
        const std::string now = entry.edit->text().trimmed().toStdString();
        if (now != entry.before) {
            changed.push_back(entry.path + "=" + now);
        }
    }
    return changed;
}

// The same validation as everywhere, at the field that caused it.
void ForkDialog::check() {
    const compile::CheckedRun checked =
        compile::read_run_config(config_.document, config_.base_dir, overrides());
    std::vector<QStringList> at_field(entries_.size());
    QStringList others;
    for (const config::Diagnostic& problem : checked.diagnostics) {
        const auto entry = std::find_if(entries_.begin(), entries_.end(), [&](const Entry& field) {
            return belongs_to(problem.pointer, field.path);
        });
        const QString line = line_of(problem);
        if (entry == entries_.end()) {
            others << line;
        } else {
            at_field[static_cast<std::size_t>(entry - entries_.begin())] << line;
        }
    }
    for (std::size_t i = 0; i < entries_.size(); ++i) {
        widgets::setInvalid(entries_[i].edit, !at_field[i].isEmpty());
        entries_[i].problem->setText(at_field[i].join("\n"));
        entries_[i].edit->setAccessibleDescription(at_field[i].join("\n"));
    }
    others_->setText(others.join("\n"));
    start_->setEnabled(checked.ok());
}

} // namespace weft::ui
