// SPDX-License-Identifier: GPL-3.0-or-later
// What a fork changes: the few fields that people fork for, with the parent's values filled in.
#pragma once

#include "core/compile/run_config.h"
#include "ui/bridge/draft.h"
#include "ui/forms/form_source.h"

#include <QDialog>

class QPushButton;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class FieldBox;

class ForkDialog : public QDialog {
    Q_OBJECT
public:
    ForkDialog(const compile::RunConfig& parent_config, std::int64_t step,
               QWidget* parent = nullptr);
    ~ForkDialog() override;

    /// "--set" assignments of the fields that differ from the parent.
    std::vector<std::string> overrides() const;

protected:
    void keyPressEvent(QKeyEvent* event) override;

private:
    QWidget* createForm();
    void check();

    compile::RunConfig parent_;
    Draft draft_; // the parent's configuration, and what is changed in it
    FormSource source_;
    QWidget* form_;
    std::vector<FieldBox*> boxes_;
    widgets::TextLabel* others_; // what belongs to no field shown here
    QPushButton* start_;
};

} // namespace weft::ui
