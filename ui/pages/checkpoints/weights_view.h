// SPDX-License-Identifier: GPL-3.0-or-later
// A file of weights that another program wrote: what is in it, and a run that starts from it.
#pragma once

#include "core/checkpoint/safetensors.h"
#include "widgets/controls/card.h"

class QPushButton;
class QStackedWidget;
class QStandardItemModel;

namespace weft::widgets {
class EmptyState;
} // namespace weft::widgets

namespace weft::ui {

class WeightsView : public widgets::Surface {
    Q_OBJECT
public:
    explicit WeightsView(QWidget* parent = nullptr);

    /// Reads the table of contents in the background.
    void open(const std::filesystem::path& file);
    const std::filesystem::path& file() const { return file_; }

signals:
    /// The draft should start from this file.
    void startRequested(const std::filesystem::path& file);

private:
    void show(const checkpoint::SafetensorsFile& contents, const QString& problem);

    std::filesystem::path file_;
    widgets::SectionHeader* header_;
    QPushButton* start_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    QStandardItemModel* model_;
};

} // namespace weft::ui
