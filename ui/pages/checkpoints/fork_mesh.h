// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh that a fork computes on: number of devices, strategy, axes. Follows a draft and edits
// it.
#pragma once

#include "ui/bridge/draft/draft.h"
#include "ui/bridge/draft/mesh_edit.h"

#include <QWidget>

class QComboBox;
class QSpinBox;

namespace weft::ui {

class AxisRow;

class ForkMesh : public QWidget {
    Q_OBJECT
public:
    explicit ForkMesh(Draft& draft, QWidget* parent = nullptr);

private:
    void follow();
    void change(const MeshEdit& edit);

    Draft& draft_;
    MeshEdit edit_;
    QSpinBox* devices_;
    QComboBox* strategy_;
    AxisRow* axes_;
};

} // namespace weft::ui
