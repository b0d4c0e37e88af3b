// SPDX-License-Identifier: GPL-3.0-or-later
// The head of a page that edits the draft: title, what is wrong on the page, undo, redo, and the
// way to a field by its name (Ctrl+F anywhere on the page).
#pragma once

#include "widgets/controls/card.h"

#include <functional>
#include <string>

class QPushButton;

namespace weft::widgets {
class Badge;
} // namespace weft::widgets

namespace weft::ui {

class Actions;
class Draft;
class FormSource;

/// What is wrong with a part of a draft, as far as checks and closer looks have found.
struct ProblemCount {
    int errors = 0;
    int warnings = 0;
};
ProblemCount countProblems(const Draft& draft,
                           const std::function<bool(const std::string& pointer)>& is_here);

class DraftHeader : public widgets::SectionHeader {
    Q_OBJECT
public:
    /// `page`: where Ctrl+F leads to the box.
    DraftHeader(const QString& title, FormSource& source, Actions& actions, QWidget* page);

    /// How many errors and warnings the page has; none: no badge.
    void setProblems(ProblemCount count);

signals:
    void fieldChosen(const std::string& pointer);

private:
    widgets::Badge* badge_;
};

} // namespace weft::ui
