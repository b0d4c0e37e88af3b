// SPDX-License-Identifier: GPL-3.0-or-later
// What can be done with chosen checkpoints: compare, verify, export, pin, show, throw away. The
// work is done in the background with its progress.
#pragma once

#include "ui/bridge/long_job.h"
#include "ui/bridge/run/run_trash.h"
#include "ui/models/checkpoint_model.h"

#include <QTimer>
#include <QWidget>

#include <functional>

class QAction;
class QMenu;
class QPushButton;

namespace weft::widgets {
class ProgressLine;
class SectionHeader;
} // namespace weft::widgets

namespace weft::train {
struct ExportFormat;
} // namespace weft::train

namespace weft::ui {

class CheckpointActions : public QWidget {
    Q_OBJECT
public:
    explicit CheckpointActions(QWidget* parent = nullptr);
    ~CheckpointActions() override; // stops the work under way

    /// What the user has selected, in the order of the table.
    void setChosen(std::vector<CheckpointRow> rows);
    /// Writes a checkpoint to a file or folder in a format (train::kExportFormats); without one, in
    /// that of the file's ending.
    void exportTo(const std::filesystem::path& path, const QString& file,
                  const std::string& format = {});
    /// Asks, then moves the chosen ones to the trash.
    void remove();
    /// Puts what went to the trash back.
    void bringBack(const std::vector<Trashed>& checkpoints);
    bool isBusy() const { return busy_; }

signals:
    /// Something in the folder is otherwise now.
    void changed();
    /// kind: widgets::MessageKind
    void said(int kind, const QString& text);
    /// These lie in the trash now, and can be brought back.
    void trashed(const std::vector<Trashed>& checkpoints);

private:
    QPushButton* addButton(const QString& name, const QString& text, const QString& tooltip);
    void update();
    void compare();
    void verify();
    QMenu* createExportMenu();
    void chooseExport(const train::ExportFormat& format);
    void pin(bool pinned);
    void reveal();
    void trash(const std::vector<std::filesystem::path>& folders);
    /// One piece of work at a time; the answer is what to say, with MessageKind::Success when good.
    struct Answer {
        bool good = true;
        QString text;
        std::vector<Trashed> trashed{};
    };
    void start(const std::function<Answer(const checkpoint::Progress&)>& work, bool changes);

    std::vector<CheckpointRow> rows_;
    bool busy_ = false;
    LongJob job_; // the work under way
    QTimer watch_;
    widgets::ProgressLine* progress_;
    QPushButton* stop_;
    QPushButton* compare_;
    QPushButton* verify_;
    QPushButton* export_;
    QPushButton* more_;
    QAction* pin_;
    QAction* reveal_;
    QAction* trash_;
};

} // namespace weft::ui
