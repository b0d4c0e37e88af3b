// SPDX-License-Identifier: GPL-3.0-or-later
// Where the time goes: by op, layer, kernel or phase, sorted and filtered, beside another recording
// where one is compared.
#pragma once

#include "ui/bridge/profile/open_recording.h"
#include "widgets/controls/card.h"

#include <memory>
#include <string>

class QLineEdit;
class QSortFilterProxyModel;
class QTableView;

namespace weft::widgets {
class SegmentedControl;
class ShareDelegate;
} // namespace weft::widgets

namespace weft::ui {

class ProfileModel;

class TimePanel : public widgets::Surface {
    Q_OBJECT
public:
    explicit TimePanel(QWidget* parent = nullptr);

    void setRecordings(const std::shared_ptr<const OpenRecording>& now,
                       const std::shared_ptr<const OpenRecording>& before);
    profile::Grouping grouping() const;
    /// Groups the rows by something else.
    void setGrouping(profile::Grouping grouping);
    /// Selects the row of this name; none where there is none. Tells nobody.
    void showRow(const std::string& name);
    /// The same, without a filter that would hide it.
    void revealRow(const std::string& name);
    void focusFilter();

signals:
    /// A row was chosen, or none (empty).
    void rowChosen(const std::string& name);
    void groupingChanged();

protected:
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void fill();
    void describe();
    void arrangeColumns();

    std::shared_ptr<const OpenRecording> now_;
    std::shared_ptr<const OpenRecording> before_;
    bool settling_ = false; // the page follows, and chooses nothing
    widgets::SectionHeader* header_;
    widgets::SegmentedControl* groups_;
    QLineEdit* filter_;
    ProfileModel* model_;
    QSortFilterProxyModel* proxy_;
    QTableView* table_;
    widgets::ShareDelegate* share_;
};

} // namespace weft::ui
