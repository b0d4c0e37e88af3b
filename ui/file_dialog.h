// SPDX-License-Identifier: GPL-3.0-or-later
// Files and folders that a person chooses: the one way to ask for them. The desktop's own dialog
// where its platform theme has one (the portal), else Qt's in the studio's look, with the places at
// its side and the folder in which the last one of its kind was.
#pragma once

#include <QObject>
#include <QString>
#include <QStringList>

#include <filesystem>
#include <map>

class QWidget;

namespace weft::ui {

/// What is asked for: each has a folder of its own that is remembered.
enum class FileUse { Configuration, Run, Data, Model, Export };

struct FileQuestion {
    QString title;
    FileUse use = FileUse::Data;
    QString filters{};  // "Tables (*.csv);;Text (*.txt)"; empty: any file
    QString proposed{}; // a name, or a path to begin with
};

/// What was chosen; empty: nothing, or `over` is gone, so that whoever asked touches nothing then.
QString askForFile(QWidget* over, const FileQuestion& question);
QString askForFolder(QWidget* over, const FileQuestion& question);
/// Of a file to write: with the ending of the kind that was chosen where the name has none.
QString askForPlace(QWidget* over, const FileQuestion& question, QString* filter = nullptr);

/// The folders of a window: a child of it, found by whoever asks over it.
class FilePlaces : public QObject {
    Q_OBJECT
public:
    /// `file`: where they are kept. `runs`: stands at the side, and is where runs are looked for.
    FilePlaces(const std::filesystem::path& file, const std::filesystem::path& runs,
               QObject* window);

    const std::filesystem::path& runs() const { return runs_; }
    /// Where one of this kind was chosen last; empty: nowhere that is known.
    QString folder(FileUse use) const;
    void remember(FileUse use, const QString& folder);
    /// Where something was chosen lately, of whatever kind: the newest first, each once.
    const QStringList& recent() const { return recent_; }

private:
    std::filesystem::path file_;
    std::filesystem::path runs_;
    std::map<FileUse, QString> folders_;
    QStringList recent_;
};

} // namespace weft::ui
