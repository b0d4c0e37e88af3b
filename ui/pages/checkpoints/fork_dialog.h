// SPDX-License-Identifier: GPL-3.0-or-later
// What a fork changes: the few fields that people fork for, with the parent's values filled in and
// a name of its own; the learning rates that follow, and all that differs from the parent.
#pragma once

#include "core/compile/config/run_config.h"
#include "ui/bridge/draft/draft.h"
#include "ui/forms/form_source.h"

#include <QDialog>

class QPushButton;

namespace weft::widgets {
class LrCurve;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class DraftChanges;
class FieldBox;
class MachineLook;

class ForkDialog : public QDialog {
    Q_OBJECT
public:
    /// `total_steps`: the length of the parent; 0 where it is not known.
    ForkDialog(const compile::RunConfig& parent_config, std::int64_t step, std::int64_t total_steps,
               MachineLook& machine, QWidget* parent = nullptr);
    ~ForkDialog() override;

    /// Makes changes beforehand, given as "--set" assignments.
    void fill(const std::vector<std::string>& assignments);
    /// "--set" assignments of the fields that differ from the parent.
    std::vector<std::string> overrides() const;

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QWidget* createForm();
    void check();
    void drawRate();
    /// Of the fork, by the parent's where both are given in one unit; 0: not known.
    std::int64_t totalSteps() const;

    compile::RunConfig parent_;
    std::int64_t step_;
    std::int64_t parent_steps_;
    MachineLook& machine_;
    Draft draft_; // the parent's configuration, and what is changed in it
    FormSource source_;
    QWidget* form_;
    std::vector<FieldBox*> boxes_;
    widgets::TextLabel* others_; // what belongs to no field shown here
    DraftChanges* changes_;
    widgets::LrCurve* rate_;
    QPushButton* start_;
};

} // namespace weft::ui
