// SPDX-License-Identifier: GPL-3.0-or-later
// What the network says of samples that are no pictures, at one step or at two beside each other:
// texts one below the other, numbers and classes as a table.
#pragma once

#include "ui/bridge/run/sample_file.h"
#include "ui/bridge/run/sample_pictures.h"
#include "widgets/look/number_style.h"

#include <QStackedWidget>

#include <vector>

class QStandardItemModel;
class QTableView;
class QTextEdit;

namespace weft::ui {

class SampleWords : public QStackedWidget {
    Q_OBJECT
public:
    /// One evaluation.
    struct Said {
        qint64 step = 0;
        SampleFile file;
    };

    explicit SampleWords(QWidget* parent = nullptr);

    /// The first is the step that was chosen. `samples` names classes.
    void setSaid(std::vector<Said> said, const SampleSet& samples = {});

protected:
    void changeEvent(QEvent* event) override;

private:
    void showTexts();
    void showTable();
    /// Of a row of the first step: what is to be said, and what each step says.
    QString rowName(std::size_t row) const;
    QString wanted(std::size_t row) const;
    QString said(const Said& one, std::size_t row) const;
    /// There is one number to predict for each sample.
    bool hasOneName() const;
    QString trueTitle() const;
    /// How far it is from what is to be said, with its sign.
    QString errorOf(const Said& one, std::size_t row) const;
    void chooseStyles();

    std::vector<Said> said_;
    std::vector<widgets::NumberStyle> styles_; // of the numbers in each row
    SampleSet samples_;
    QTextEdit* texts_;
    QStandardItemModel* model_;
    QTableView* table_;
};

} // namespace weft::ui
