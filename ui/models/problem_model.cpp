// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/models/problem_model.h"

#include "core/config/locate.h"
#include "ui/bridge/convert.h"
#include "ui/bridge/draft/place_text.h"
#include "ui/studio.h"
#include "widgets/look/icon.h"

#include <algorithm>

namespace weft::ui {
namespace {

QString lineText(const Problem& problem) {
    return problem.line > 0 ? QString("%1:%2").arg(problem.line).arg(problem.column) : QString();
}

} // namespace

ProblemModel::ProblemModel(Studio& studio, QObject* parent) : TableModel(parent), studio_(studio) {
    const auto column = [](const QString& title, auto text) {
        return TableColumn<Problem>{.title = title, .text = text, .tip = text};
    };
    describe({column(tr("in"), [](const Problem& problem) { return problem.source; }),
              column(tr("where"), [](const Problem& problem) { return problem.where; }),
              column(tr("line"), lineText),
              column(tr("what"), [](const Problem& problem) { return problem.message; }),
              column(tr("what to do"), [](const Problem& problem) { return problem.hint; })});
    connect(&studio_.draft(), &Draft::changed, this, &ProblemModel::rebuild);
    connect(&studio_.draft(), &Draft::findingsChanged, this, &ProblemModel::rebuild);
    connect(&studio_.run(), &RunModel::changed, this, &ProblemModel::rebuild);
    connect(&studio_.run(), &RunModel::reset, this, &ProblemModel::rebuild);
    rebuild();
}

int ProblemModel::errors() const {
    return static_cast<int>(std::count_if(rows_.begin(), rows_.end(),
                                          [](const Problem& problem) { return problem.error; }));
}

int ProblemModel::warnings() const {
    return static_cast<int>(rows_.size()) - errors();
}

void ProblemModel::rebuild() {
    std::vector<Problem> problems;
    const std::string& text = studio_.draft().text(); // empty: the file could not be read
    for (const config::Diagnostics& list :
         {studio_.draft().diagnostics(), studio_.draft().findings()}) {
        for (const config::Diagnostic& found : list) {
            const config::Location place =
                text.empty() ? config::Location{0, 0, 0, 0} : config::locate(text, found.pointer);
            problems.push_back({found.severity == config::Severity::error, tr("draft"),
                                placeText(found.pointer), static_cast<int>(place.line),
                                static_cast<int>(place.column), toQString(found.message),
                                toQString(found.hint), toQString(found.pointer)});
        }
    }
    const RunModel& run = studio_.run();
    if (!run.problem().isEmpty()) {
        problems.push_back({true, tr("run"), {}, 0, 0, run.problem(), {}, {}});
    }
    if (run.failure()) {
        problems.push_back({true,
                            run.name(),
                            toQString(run.failure()->where),
                            0,
                            0,
                            toQString(run.failure()->message),
                            toQString(run.failure()->hint),
                            {}});
    }
    for (const train::WarningEvent& warning : run.warnings()) {
        problems.push_back(
            {false, run.name(), {}, 0, 0, toQString(warning.message), toQString(warning.hint), {}});
    }
    const auto same = [](const Problem& a, const Problem& b) {
        return a.message == b.message && a.where == b.where && a.source == b.source &&
               a.hint == b.hint && a.line == b.line && a.column == b.column;
    };
    if (std::equal(problems.begin(), problems.end(), rows_.begin(), rows_.end(), same)) {
        return;
    }
    beginResetModel();
    rows_ = std::move(problems);
    endResetModel();
    emit countChanged();
}

QVariant ProblemModel::data(const QModelIndex& index, int role) const {
    const Problem& problem = row(index.row());
    if (index.column() == SourceColumn && role == Qt::DecorationRole) {
        return problem.error ? widgets::icon("error", widgets::Role::Error)
                             : widgets::icon("warning", widgets::Role::Warning);
    }
    if (index.column() == SourceColumn && role == Qt::AccessibleTextRole) {
        return (problem.error ? tr("error in ") : tr("warning in ")) + problem.source;
    }
    return TableModel::data(index, role);
}

} // namespace weft::ui
