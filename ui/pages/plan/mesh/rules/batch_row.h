// SPDX-License-Identifier: GPL-3.0-or-later
// The batch on one line that adds up: samples = micro batch × accumulation × data shards. Arrows
// step to numbers that divide; what is typed and does not is told, and changes nothing.
#pragma once

#include "ui/bridge/draft/batch_edit.h"
#include "widgets/controls/short_spin_box.h"

#include <QWidget>

#include <functional>
#include <memory>

namespace weft::widgets {
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class BatchBox;

class BatchRow : public QWidget {
    Q_OBJECT
public:
    explicit BatchRow(QWidget* parent = nullptr);

    /// The configuration whose batch is shown and edited; no signal is emitted.
    void setConfig(const compile::RunConfig& config);

signals:
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);
    /// What is wrong with what was typed, or uneven in what is; empty: nothing.
    void told(const QString& problem);

private:
    BatchBox* addBox(QLayout& row, const char* object_name, const QString& name,
                     const QString& help);
    void addSign(QLayout& row, const QString& text);
    void show();
    void apply(BatchBox* box, const BatchOutcome& outcome, const QString& what);

    std::shared_ptr<const compile::RunConfig> config_;
    BatchBox* samples_;
    BatchBox* micro_;
    BatchBox* steps_;
    widgets::TextLabel* shards_;
};

/// A number that steps to where its row says.
class BatchBox : public widgets::ShortSpinBox {
    Q_OBJECT
public:
    BatchBox() : ShortSpinBox(3) {}

    /// The number after or before another one.
    std::function<std::int64_t(std::int64_t, bool up)> next;
    std::int64_t known = 0; // of the configuration

    void stepBy(int steps) override;

signals:
    /// The user wants this number.
    void wanted(int number);

protected:
    StepEnabled stepEnabled() const override;
};

} // namespace weft::ui
