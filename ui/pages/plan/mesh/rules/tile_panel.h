// SPDX-License-Identifier: GPL-3.0-or-later
// One tensor over the mesh: parameter, gradient, optimizer state or the activation that it makes as
// tiles, what each device holds of it, and what that takes.
#pragma once

#include "core/compile/config/run_config.h"
#include "ui/bridge/plan/step_moment.h"
#include "ui/bridge/plan/tensor_tiles.h"
#include "ui/pages/plan/plan_panel.h"

#include <memory>
#include <optional>

class QBoxLayout;
class QComboBox;
class QSlider;

namespace weft::widgets {
class Badge;
class ElidedLabel;
class SegmentedControl;
class ShardStrip;
class TextLabel;
class TileView;
} // namespace weft::widgets

namespace weft::ui {

class DimensionRow;

class TilePanel : public PlanPanel {
    Q_OBJECT
public:
    explicit TilePanel(QWidget* parent = nullptr);

    /// How specs are written.
    void setDialect(sharding::SpecDialect dialect);
    /// Says what the op of a moment does with the side that is shown.
    void setMoment(const StepMoment& moment);
    /// The draft whose plan is shown: its mesh, rules and overrides are what is edited.
    void setConfig(const compile::RunConfig& config);
    /// The name of a state slot or of an array of the batch. Another plan that has it shows it
    /// again.
    void setTensor(const QString& name);
    QString tensor() const { return tensor_; }
    int selectedDevice() const { return device_; }

    /// "[384, 768]", what a device holds; empty: nothing is shown.
    QString partText() const;
    widgets::TileView* view() const { return view_; }

public slots:
    /// -1: none. Does not signal.
    void setSelectedDevice(int device);

signals:
    /// The user chose a device by a tile or by the strip.
    void deviceSelected(int device);
    /// Another tensor, side or plan is shown.
    void shownChanged();
    /// "--set" assignments for the draft, and what they are.
    void adopted(const std::vector<std::string>& overrides, const QString& what);

protected:
    void planChanged(const ShownPlan& before) override;
    void staleChanged() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* createHead();
    QWidget* createPieces();
    void renew();
    void showSheet(const std::optional<TensorSheet>& sheet);
    void showDimensions();
    void showFacts();
    void showTouch();
    void arrange();
    void offerSides(const plan::Tensor* tensor);
    QString whyNot(const plan::Tensor& tensor, TensorSide side) const;
    void offerAxes();
    void showPiece();
    void chooseDevice(int device);

    std::shared_ptr<const PlanDigest> drawn_; // the one shown, or before it while a step is awaited
    std::shared_ptr<const compile::RunConfig> config_;
    QString tensor_;
    std::optional<TensorSheet> sheet_;
    sharding::SpecDialect dialect_ = sharding::SpecDialect::jax;
    int device_ = -1;
    bool awaits_step_ = false;         // what is shown is no state, and only state is planned yet
    std::vector<TensorTouch> touches_; // by the op of the moment
    widgets::ElidedLabel* name_;
    widgets::Badge* touch_;
    widgets::TextLabel* type_;
    widgets::SegmentedControl* side_;
    DimensionRow* dimensions_;
    QWidget* pieces_;
    QComboBox* rows_;
    QComboBox* columns_;
    QSlider* piece_;
    widgets::ElidedLabel* piece_text_;
    widgets::TileView* view_;
    QBoxLayout* drawing_;
    widgets::ShardStrip* strip_;
    widgets::TextLabel* facts_;
    widgets::TextLabel* padding_;
};

} // namespace weft::ui
