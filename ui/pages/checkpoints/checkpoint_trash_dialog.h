// SPDX-License-Identifier: GPL-3.0-or-later
// Before checkpoints go to the trash. The newest, the best and pinned ones only go when that is
// ticked: without them a run cannot go on, or its best state is lost.
#pragma once

#include "ui/models/checkpoint_model.h"

#include <QDialog>

namespace weft::ui {

class CheckpointTrashDialog : public QDialog {
    Q_OBJECT
public:
    explicit CheckpointTrashDialog(const std::vector<CheckpointRow>& rows,
                                   QWidget* parent = nullptr);

    const std::vector<std::filesystem::path>& folders() const { return folders_; }

private:
    std::vector<std::filesystem::path> folders_;
};

} // namespace weft::ui
