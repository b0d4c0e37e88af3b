// SPDX-License-Identifier: GPL-3.0-or-later
// The weights of attention of one layer: all heads at a glance, one of them or their mean as a
// matrix, and over the picture what one place looks at.
#pragma once

#include "ui/bridge/inside/head_maps.h"
#include "ui/bridge/newest_job.h"
#include "ui/bridge/run/trial_host.h"

#include <QWidget>

#include <memory>

class QComboBox;

namespace weft::widgets {
class ChannelView;
class MatrixView;
class PatchView;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class AttentionPart : public QWidget {
    Q_OBJECT
public:
    explicit AttentionPart(QWidget* parent = nullptr);

    /// `at`: place among the layers that attend. The head and the place that looks stay.
    void showLayer(std::shared_ptr<const LookedInside> looked, int at);
    void clear();

signals:
    /// What is under the mouse or the cursor in words; empty: nothing.
    void pointed(const QString& words);

private:
    const train::AttentionLook& layer() const;
    void fillHeads();
    void showHead();
    void showWeights(std::vector<float> weights);
    void showPatches();
    QString wordsOf(int query, int key) const;

    std::shared_ptr<const LookedInside> looked_;
    int at_ = 0;
    HeadMaps maps_;
    std::vector<float> weights_; // that are shown
    QStringList names_;          // of places
    int query_ = 0;              // that looks
    NewestJob maps_job_;
    NewestJob head_job_;
    QComboBox* heads_;
    widgets::TextLabel* about_;
    widgets::ChannelView* small_;
    widgets::MatrixView* matrix_;
    QWidget* picture_;
    widgets::TextLabel* looks_;
    widgets::PatchView* patches_;
};

} // namespace weft::ui
