// SPDX-License-Identifier: GPL-3.0-or-later
// Train on my data, from the beginning or from weights (fine-tuning): what was brought, what of it
// is predicted, first samples, the run that would learn it, and Start.
#pragma once

#include "ui/bridge/data/data_offer.h"

#include <QWidget>

class QHBoxLayout;
class QPushButton;
class QScrollArea;
class QStackedWidget;
class QTableView;
class QVBoxLayout;

namespace weft::widgets {
class ElidedLabel;
class EmptyState;
class FigureStrip;
class Hairline;
class ProgressLine;
class SectionHeader;
class SegmentedControl;
class TextLabel;
} // namespace weft::widgets

namespace weft::ui {

class ColumnModel;
class DataSamplePanel;
class Studio;

class OfferPanel : public QWidget {
    Q_OBJECT
public:
    explicit OfferPanel(Studio& studio, QWidget* parent = nullptr);

    DataOffer& offer() { return offer_; }
    /// Looks at what was dropped or chosen.
    void look(const std::filesystem::path& path);
    /// Data that is looked at, then or already, goes on from these weights.
    void tune(const std::filesystem::path& weights);

signals:
    /// Home shows its other face again.
    void closed();
    /// The draft is the suggested run now, to be edited.
    void editing();
    void failed(const QString& problem);
    /// Data to fine-tune on is wanted: a file, or a folder.
    void dataWanted(bool folder);

protected:
    void changeEvent(QEvent* event) override;
    void showEvent(QShowEvent* event) override;
    void hideEvent(QHideEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    QWidget* createFound();
    QWidget* createWanted();
    QWidget* createRun();
    QWidget* createTuning();
    QWidget* createClasses();
    QWidget* createFooter();
    void arrange();
    void fitRows();
    void update();
    void updateFormats();
    void updateFound();
    void updateNotes();
    void updateRun();
    void updateStart();
    void updateNothing();
    void updateTuning();
    bool makeDraft();
    void start();
    void goOn();

    Studio& studio_;
    DataOffer offer_;
    widgets::SectionHeader* header_;
    widgets::ProgressLine* progress_;
    QStackedWidget* stack_;
    widgets::EmptyState* looking_;
    QPushButton* stop_;
    widgets::EmptyState* nothing_;
    widgets::EmptyState* wanted_;
    QWidget* tuning_part_;
    widgets::ElidedLabel* weights_;
    widgets::SegmentedControl* tuning_;
    QHBoxLayout* parts_;
    QVBoxLayout* settings_;
    QScrollArea* scroll_;
    widgets::Hairline* between_;
    DataSamplePanel* samples_ = nullptr;
    widgets::SegmentedControl* formats_ = nullptr;
    QVBoxLayout* formats_place_;
    widgets::TextLabel* summary_;
    QVBoxLayout* notes_;
    QWidget* columns_part_;
    ColumnModel* columns_;
    QTableView* table_;
    widgets::FigureStrip* figures_;
    QVBoxLayout* reasons_;
    widgets::ElidedLabel* why_;
    QPushButton* start_;
    QPushButton* edit_;
    bool starting_ = false;
};

} // namespace weft::ui
