// SPDX-License-Identifier: GPL-3.0-or-later
// How full the memories of a host are: its own, and that of each GPU.
#pragma once

#include "core/config/json.h"

#include <QWidget>

#include <cstdint>
#include <vector>

class QGridLayout;
class QProgressBar;

namespace weft::widgets {
class ElidedLabel;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class MemoryRows : public QWidget {
    Q_OBJECT
public:
    explicit MemoryRows(QWidget* parent = nullptr);
    /// As `weft doctor --json` of the host says it. Of what is not known there is no bar.
    void setDoctor(const config::Json& doctor);

private:
    struct Row {
        widgets::ElidedLabel* name;
        QProgressBar* bar;
        widgets::TextLabel* text;
    };
    Row& row(std::size_t number);

    QGridLayout* grid_;
    std::vector<Row> rows_; // those that are needed are shown
};

} // namespace weft::ui
