// SPDX-License-Identifier: GPL-3.0-or-later
// How the loss is scaled: shown where something is, in f16, or where the draft says how.
#pragma once

#include "ui/forms/form_source.h"

#include <QWidget>

namespace weft::ui {

class LossScalePanel : public QWidget {
    Q_OBJECT
public:
    explicit LossScalePanel(FormSource& source);

private:
    void refresh();

    FormSource& source_;
};

} // namespace weft::ui
