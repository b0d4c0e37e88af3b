// SPDX-License-Identifier: GPL-3.0-or-later
// Before runs go to the trash: what goes with them, and which of them stay because they are in use.
#pragma once

#include "core/train/record/run_summary.h"

#include <QDialog>

class QPushButton;

namespace weft::ui {

class TrashDialog : public QDialog {
    Q_OBJECT
public:
    /// `all` says who was forked from them.
    TrashDialog(const std::vector<train::RunSummary>& chosen,
                const std::vector<train::RunSummary>& all, QWidget* parent = nullptr);

    /// Those that nobody is writing.
    const std::vector<std::filesystem::path>& folders() const { return folders_; }

private:
    std::vector<std::filesystem::path> folders_;
};

} // namespace weft::ui
