// SPDX-License-Identifier: GPL-3.0-or-later
// Samples that a model makes on a way from the latents of one seed to those of another, and the
// class that they are of.
#pragma once

#include "ui/bridge/run/trial_host.h"

#include <QStringList>
#include <QWidget>

class QComboBox;
class QSpinBox;

namespace weft::widgets {
class ImageGrid;
} // namespace weft::widgets

namespace weft::ui {

class TrySamples : public QWidget {
    Q_OBJECT
public:
    explicit TrySamples(QWidget* parent = nullptr);

    /// Of a model that makes samples of one; empty: it does not.
    void setClasses(const QStringList& names);
    SampleWalk walk() const;
    void setPictures(const std::vector<QImage>& pictures);

signals:
    void changed();

private:
    QSpinBox* from_;
    QSpinBox* to_;
    QWidget* class_line_;
    QComboBox* class_;
    widgets::ImageGrid* grid_;
};

} // namespace weft::ui
