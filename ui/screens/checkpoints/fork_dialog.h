// SPDX-License-Identifier: GPL-3.0-or-later
// What a fork changes: the few fields that people fork for, with the parent's values filled in.
#pragma once

#include "core/compile/run_config.h"

#include <QDialog>

class QLineEdit;
class QPushButton;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class ForkDialog : public QDialog {
    Q_OBJECT
public:
    ForkDialog(const compile::RunConfig& parent_config, std::int64_t step,
               QWidget* parent = nullptr);

    /// "--set" assignments of the fields that differ from the parent.
    std::vector<std::string> overrides() const;

private:
    void check();

    struct Entry {
        std::string path;
        std::string before;
        QLineEdit* edit;
        widgets::TextLabel* problem; // below the field
    };

    compile::RunConfig config_;
    std::vector<Entry> entries_;
    widgets::TextLabel* others_; // what belongs to no field shown here
    QPushButton* start_;
};

} // namespace weft::ui
