// SPDX-License-Identifier: GPL-3.0-or-later
// The batch as an equation, global = micro x data ranks x accumulation, and what follows from it:
// updates, tokens, epochs, time on this machine.
#pragma once

#include "ui/bridge/draft/run_outlook.h"
#include "ui/forms/field_group.h"

class QLineEdit;

namespace weft::widgets {
class FigureStrip;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class BatchPanel : public QWidget {
    Q_OBJECT
public:
    BatchPanel(FormSource& source, RunOutlook& outlook, QWidget* parent = nullptr);

private:
    QWidget* derived(const QString& name, const QString& remark, const QString& id,
                     QLineEdit*& edit);
    void refresh();
    void refreshFigures();

    FormSource& source_;
    RunOutlook& outlook_;
    FieldGroup* equation_;
    QLineEdit* ranks_ = nullptr;
    QLineEdit* accumulation_ = nullptr;
    widgets::FigureStrip* figures_;
    widgets::TextLabel* problem_;
};

} // namespace weft::ui
