// SPDX-License-Identifier: GPL-3.0-or-later
// A sweep of the draft: which settings vary and over what, how trials are chosen and judged; and
// the trials that come of it, while it is written.
#pragma once

#include "core/queue/plan_sweep.h"
#include "ui/bridge/newest_job.h"

#include <QDialog>
#include <QTimer>

#include <memory>

class QComboBox;
class QGridLayout;
class QLineEdit;
class QPushButton;

namespace weft::widgets {
class LineView;
class SegmentedControl;
class ShortSpinBox;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class SweepDialog : public QDialog {
    Q_OBJECT
public:
    /// Of a configuration; paths in it are seen from `base_dir`.
    SweepDialog(const config::Json& document, const std::filesystem::path& base_dir,
                QWidget* parent = nullptr);

    /// What was planned; null while it is not known or cannot be done.
    std::shared_ptr<const queue::PlannedSweep> planned() const { return planned_; }

private:
    struct VariedRow {
        QComboBox* path;
        QLineEdit* values;
        QPushButton* remove;
    };
    QWidget* createVaried();
    QWidget* createRules();
    void addRow(const QString& path, const QString& values);
    void removeRow(const QPushButton* of);
    queue::SweepRequest request() const;
    void change();
    void plan();
    void showPlan(const std::shared_ptr<const queue::PlannedSweep>& planned,
                  const QString& problem);

    const config::Json document_;
    const std::filesystem::path base_dir_;
    const QStringList paths_; // of settings that have one value each
    QGridLayout* grid_;
    std::vector<VariedRow> rows_;
    widgets::SegmentedControl* method_;
    widgets::ShortSpinBox* trials_;
    QLineEdit* metric_;
    QLineEdit* first_rung_;
    widgets::TextLabel* says_;
    widgets::LineView* list_;
    QPushButton* accept_;
    QTimer settle_;
    NewestJob job_{this};
    std::shared_ptr<const queue::PlannedSweep> planned_;
};

} // namespace weft::ui
