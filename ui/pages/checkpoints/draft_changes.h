// SPDX-License-Identifier: GPL-3.0-or-later
// What a fork with the draft's settings would change of a run; one sentence where the draft has
// another model, whose settings cannot be compared field by field.
#pragma once

#include "core/compile/config/run_config.h"

#include <QWidget>

class QVBoxLayout;

namespace weft::widgets {
class SectionHeader;
}

namespace weft::ui {

class Draft;

class DraftChanges : public QWidget {
    Q_OBJECT
public:
    explicit DraftChanges(QWidget* parent = nullptr);

    /// Is hidden where there is nothing to tell.
    void show(const compile::RunConfig& run, const Draft& draft, const QString& title);
    void clear();

private:
    void addSentence(const QString& text);
    void addChange(const compile::FieldChange& change);

    widgets::SectionHeader* header_;
    QVBoxLayout* rows_;
};

} // namespace weft::ui
