// SPDX-License-Identifier: GPL-3.0-or-later
// Home: what to do first. Recovery after a crash leads, then the demo, presets and recent runs;
// files that somebody brings take its place until it is settled what to do with them.
#pragma once

#include "ui/pages/page.h"

#include <filesystem>
#include <functional>

class QBoxLayout;
class QStackedWidget;

namespace weft::widgets {
class Banner;
}

namespace weft::ui {

class DemoCard;
class OfferPanel;
class PresetRow;
class RecentRuns;

class HomePage : public Page {
    Q_OBJECT
public:
    HomePage(Studio& studio, Actions& actions);

    void activated() override;
    bool editsDraft() const override { return true; }
    bool leads() const override;
    OfferPanel* offerPanel() const { return offer_; }

    /// Asks for a file or a folder; tests replace the dialog by an answer.
    std::function<QString(const QString& title, bool folder)> askForPath;

protected:
    void paintEvent(QPaintEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void changeEvent(QEvent* event) override;

private:
    void createOfferPanel();
    QWidget* createDropZone();
    QWidget* createChooseButton();
    QWidget* createTuneButton();
    void arrange();
    void updateRecovery();
    void openPath(const QString& path);
    void tryRun(const std::filesystem::path& run_folder);
    void locate(const QString& opened);
    void lookAt(const std::filesystem::path& path);
    void tune(const std::filesystem::path& weights);
    void showOffer();
    void report(const QString& problem);

    Studio& studio_;
    QAction* try_;
    std::filesystem::path to_try_; // once it is on screen
    QStackedWidget* stack_;
    OfferPanel* offer_;
    widgets::Banner* recovery_;
    QBoxLayout* top_;
    DemoCard* demo_;
    QWidget* zone_ = nullptr;
    PresetRow* presets_;
    RecentRuns* recent_;
};

} // namespace weft::ui
