// SPDX-License-Identifier: GPL-3.0-or-later
// What the data is, what one batch of it needs in memory, and what was skipped on opening.
#pragma once

#include "ui/bridge/data/data_preview.h"

#include <QWidget>

class QGridLayout;

namespace weft::ui {

class AboutPanel : public QWidget {
    Q_OBJECT
public:
    AboutPanel(Draft& draft, DataPreview& preview, QWidget* parent = nullptr);

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void update();
    void fitNames();
    void addRow(const QString& name, const QString& value, const QString& how = {});

    Draft& draft_;
    DataPreview& preview_;
    QGridLayout* rows_;
};

} // namespace weft::ui
