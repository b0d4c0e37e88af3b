// SPDX-License-Identifier: GPL-3.0-or-later
// The mesh that a fork computes on: CPU or GPUs, number of devices, strategy, axes. Follows a draft
// and edits it.
#pragma once

#include "ui/bridge/draft/draft.h"
#include "ui/bridge/draft/mesh_edit.h"
#include "ui/bridge/run/machine_look.h"

#include <QWidget>

class QComboBox;
class QSpinBox;

namespace weft::widgets {
class TextLabel;
}

namespace weft::ui {

class AxisRow;

class ForkMesh : public QWidget {
    Q_OBJECT
public:
    ForkMesh(Draft& draft, MachineLook& machine, QWidget* parent = nullptr);

private:
    void follow();
    void change(const MeshEdit& edit);
    void choosePlace(int place);
    void offerPlaces();

    Draft& draft_;
    MachineLook& machine_;
    MeshEdit edit_;
    QComboBox* place_;
    widgets::TextLabel* count_name_;
    QSpinBox* devices_;
    QComboBox* strategy_;
    AxisRow* axes_;
};

} // namespace weft::ui
