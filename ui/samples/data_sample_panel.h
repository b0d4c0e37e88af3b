// SPDX-License-Identifier: GPL-3.0-or-later
// A page of samples as training reads them: pictures, a table of features, or text cut into tokens.
#pragma once

#include "ui/bridge/data/data_preview.h"

#include <QWidget>

class QLineEdit;
class QPushButton;
class QStackedWidget;
class QTableView;

namespace weft::widgets {
class EmptyState;
class ImageGrid;
class SectionHeader;
class SegmentedControl;
class TextLabel;
class TokenView;
} // namespace weft::widgets

namespace weft::ui {

class SampleModel;

class DataSamplePanel : public QWidget {
    Q_OBJECT
public:
    explicit DataSamplePanel(DataPreview& preview, QWidget* parent = nullptr);

    /// The button of the state in which data cannot be opened because it is not where it was.
    QPushButton* locateButton() const { return locate_; }

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    QWidget* createHeader();
    void fitHeader();
    void update();
    void describe();
    void showMessage();
    void showSamples();
    void showImages();
    void showRows();
    void showTokens();
    void goTo(const QString& number);

    DataPreview& preview_;
    widgets::SectionHeader* header_;
    widgets::TextLabel* says_;        // which ones are shown and how
    widgets::SegmentedControl* seen_; // of a table: as in its file, or as the network sees it
    QPushButton* reroll_;
    QPushButton* back_;
    QPushButton* on_;
    QLineEdit* place_;
    QStackedWidget* stack_;
    widgets::EmptyState* message_;
    QPushButton* locate_;
    QPushButton* retry_;
    QPushButton* stop_;
    widgets::ImageGrid* images_;
    QTableView* table_ = nullptr;
    SampleModel* model_;
    widgets::TokenView* tokens_;
    widgets::TextLabel* legend_; // of tokens that are not all learnt
};

} // namespace weft::ui
