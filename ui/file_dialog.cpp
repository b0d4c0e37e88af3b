// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/file_dialog.h"

#include "ui/bridge/convert.h"
#include "widgets/look/icon.h"
#include "widgets/look/theme.h"

#include <QAbstractFileIconProvider>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QListView>
#include <QPointer>
#include <QRegularExpression>
#include <QSettings>
#include <QSplitter>
#include <QStyledItemDelegate>
#include <QTreeView>
#include <QUrl>

#include <algorithm>
#include <functional>
#include <utility>

namespace weft::ui {
namespace {

constexpr QSize kFileDialogSize{820, 520}; // at text size 1
constexpr int kFileSideWidth = 160;
constexpr int kMostRecentFolders = 6;
constexpr int kPlaceUrl = Qt::UserRole + 1; // of Qt's list of places
constexpr const char* kRecentKey = "recent";
constexpr std::pair<FileUse, const char*> kUseNames[] = {{FileUse::Configuration, "configuration"},
                                                         {FileUse::Run, "run"},
                                                         {FileUse::Data, "data"},
                                                         {FileUse::Model, "model"},
                                                         {FileUse::Export, "export"}};

/// The studio's own: the system's look into every file, which takes time.
class FileIcons : public QAbstractFileIconProvider {
public:
    QIcon icon(IconType type) const override {
        switch (type) {
        case Computer:
        case Desktop:
        case Network:
        case Drive: return widgets::icon(QStringLiteral("cpu"), widgets::Role::Muted);
        case Trashcan: return widgets::icon(QStringLiteral("trash"), widgets::Role::Muted);
        case Folder: return widgets::icon(QStringLiteral("folder"), widgets::Role::Accent);
        case File: break;
        }
        return widgets::icon(QStringLiteral("file"), widgets::Role::Muted);
    }
    QIcon icon(const QFileInfo& info) const override { return icon(info.isDir() ? Folder : File); }
    QString type(const QFileInfo& info) const override {
        return info.isDir() ? QObject::tr("Folder") : info.suffix();
    }
};

FilePlaces* placesOf(const QWidget* over) {
    for (; over != nullptr; over = over->parentWidget()) {
        if (auto* places = over->findChild<FilePlaces*>(QString(), Qt::FindDirectChildrenOnly)) {
            return places;
        }
    }
    return nullptr;
}

struct SidePlace {
    QString folder;
    QString name;
};

/// Home, the runs, where something was chosen lately, and all there is. Folders of one name are
/// told apart by what they are in.
QList<SidePlace> sidePlaces(const FilePlaces* places) {
    QList<SidePlace> all{{QDir::homePath(), FilePlaces::tr("Home")}};
    if (places != nullptr) {
        all << SidePlace{pathText(places->runs()), FilePlaces::tr("Runs")};
        for (const QString& folder : places->recent()) {
            const QString name = QFileInfo(folder).fileName();
            const auto same = [&](const QString& other) {
                return QFileInfo(other).fileName() == name;
            };
            const bool alone =
                std::count_if(places->recent().begin(), places->recent().end(), same) == 1;
            const QString around = QFileInfo(QFileInfo(folder).path()).fileName();
            all << SidePlace{folder, alone ? name : QStringLiteral("%1 – %2").arg(name, around)};
        }
    }
    all << SidePlace{QDir::rootPath(), FilePlaces::tr("File system")};
    QList<SidePlace> out;
    for (const SidePlace& place : all) {
        const bool known = std::any_of(out.begin(), out.end(), [&](const SidePlace& other) {
            return other.folder == place.folder;
        });
        if (!known && !place.folder.isEmpty() && QFileInfo(place.folder).isDir()) {
            out << place;
        }
    }
    return out;
}

/// Qt's list writes the names of folders, and "/".
class PlaceNames : public QStyledItemDelegate {
public:
    PlaceNames(QList<SidePlace> places, QObject* parent)
        : QStyledItemDelegate(parent), places_(std::move(places)) {}

protected:
    void initStyleOption(QStyleOptionViewItem* option, const QModelIndex& index) const override {
        QStyledItemDelegate::initStyleOption(option, index);
        const QString folder = index.data(kPlaceUrl).toUrl().toLocalFile();
        for (const SidePlace& place : places_) {
            if (place.folder == folder) {
                option->text = place.name;
            }
        }
        option->textElideMode = Qt::ElideMiddle;
    }

private:
    QList<SidePlace> places_;
};

/// Where a dialog begins, with the name that it proposes.
QString beginOf(const FileQuestion& question, const FilePlaces* places) {
    if (QFileInfo(question.proposed).isAbsolute()) {
        return question.proposed;
    }
    QString folder = places == nullptr ? QString() : places->folder(question.use);
    if (folder.isEmpty() || !QFileInfo(folder).isDir()) {
        const bool runs = question.use == FileUse::Run && places != nullptr;
        folder = runs ? pathText(places->runs()) : QDir::homePath();
    }
    return question.proposed.isEmpty() ? folder : QDir(folder).filePath(question.proposed);
}

/// What Qt's own dialog looks like; the desktop's has no such parts.
void arrange(QFileDialog& dialog, const QList<SidePlace>& places) {
    dialog.setSizeGripEnabled(false);
    if (auto* side = dialog.findChild<QListView*>(QStringLiteral("sidebar"))) {
        side->setItemDelegate(new PlaceNames(places, side));
    }
    if (auto* splitter = dialog.findChild<QSplitter*>(QStringLiteral("splitter"))) {
        const int side = static_cast<int>(kFileSideWidth * widgets::Theme::current().fontScale());
        splitter->setSizes({side, dialog.width() - side});
    }
    if (auto* files = dialog.findChild<QTreeView*>(QStringLiteral("treeView"))) {
        files->header()->setSectionResizeMode(QHeaderView::ResizeToContents);
        files->header()->setStretchLastSection(false);
        files->header()->setSectionResizeMode(0, QHeaderView::Stretch);
    }
}

/// Made, but not shown yet.
void prepare(QFileDialog& dialog, const FileQuestion& question, const FilePlaces* places) {
    static FileIcons icons; // models keep a pointer to it
    const QFileInfo begin(beginOf(question, places));
    dialog.setOption(QFileDialog::DontUseCustomDirectoryIcons);
    dialog.setIconProvider(&icons);
    const QList<SidePlace> side = sidePlaces(places);
    QList<QUrl> urls;
    for (const SidePlace& place : side) {
        urls << QUrl::fromLocalFile(place.folder);
    }
    dialog.setSidebarUrls(urls);
    if (!question.filters.isEmpty()) {
        dialog.setNameFilters(question.filters.split(QStringLiteral(";;")));
    }
    dialog.setViewMode(QFileDialog::Detail);
    dialog.resize(kFileDialogSize * widgets::Theme::current().fontScale());
    dialog.setDirectory(begin.isDir() ? begin.filePath() : begin.path());
    if (!begin.isDir()) {
        dialog.selectFile(begin.fileName());
    }
    arrange(dialog, side);
}

/// The first ending of "Pictures (*.png *.jpg)", or "weights.h5" of "(*.weights.h5)"; empty: any.
QString endingOf(const QString& filter) {
    static const QRegularExpression kEnding(QStringLiteral("\\*\\.([\\w.]+)"));
    return kEnding.match(filter).captured(1);
}

/// What a dialog lies over may go while it is open, and takes it along: a file that another program
/// opens here closes the dialog for a new run. Then nothing was chosen.
QString ask(QWidget* over, const FileQuestion& question,
            const std::function<void(QFileDialog&)>& setUp, QString* filter = nullptr) {
    const QPointer<QFileDialog> dialog = new QFileDialog(over, question.title);
    setUp(*dialog);
    prepare(*dialog, question, placesOf(over));
    const bool accepted = dialog->exec() == QDialog::Accepted;
    if (dialog == nullptr) {
        return {};
    }
    dialog->deleteLater();
    if (filter != nullptr) {
        *filter = dialog->selectedNameFilter();
    }
    if (!accepted || dialog->selectedFiles().isEmpty()) {
        return {};
    }
    const QString chosen = dialog->selectedFiles().constFirst();
    if (FilePlaces* places = placesOf(over)) {
        places->remember(question.use, QFileInfo(chosen).path());
    }
    return chosen;
}

} // namespace

QString askForFile(QWidget* over, const FileQuestion& question) {
    return ask(over, question,
               [](QFileDialog& dialog) { dialog.setFileMode(QFileDialog::ExistingFile); });
}

QString askForFolder(QWidget* over, const FileQuestion& question) {
    return ask(over, question, [](QFileDialog& dialog) {
        dialog.setFileMode(QFileDialog::Directory);
        dialog.setOption(QFileDialog::ShowDirsOnly);
    });
}

QString askForPlace(QWidget* over, const FileQuestion& question, QString* filter) {
    const auto setUp = [&question](QFileDialog& dialog) {
        dialog.setAcceptMode(QFileDialog::AcceptSave);
        dialog.setFileMode(QFileDialog::AnyFile);
        const auto follow = [&dialog](const QString& chosen) {
            dialog.setDefaultSuffix(endingOf(chosen));
        };
        QObject::connect(&dialog, &QFileDialog::filterSelected, &dialog, follow);
        follow(question.filters.section(QStringLiteral(";;"), 0, 0));
    };
    return ask(over, question, setUp, filter);
}

FilePlaces::FilePlaces(const std::filesystem::path& file, const std::filesystem::path& runs,
                       QObject* window)
    : QObject(window), file_(file), runs_(runs) {
    const QSettings kept(pathText(file_), QSettings::IniFormat);
    for (const auto& [use, name] : kUseNames) {
        folders_[use] = kept.value(QLatin1String(name)).toString();
    }
    recent_ = kept.value(QLatin1String(kRecentKey)).toStringList();
}

QString FilePlaces::folder(FileUse use) const {
    const auto found = folders_.find(use);
    return found == folders_.end() ? QString() : found->second;
}

void FilePlaces::remember(FileUse use, const QString& folder) {
    folders_[use] = folder;
    recent_.removeAll(folder);
    recent_.prepend(folder);
    recent_ = recent_.mid(0, kMostRecentFolders);
    QSettings kept(pathText(file_), QSettings::IniFormat);
    kept.setValue(QLatin1String(kRecentKey), recent_);
    for (const auto& [kind, name] : kUseNames) {
        if (kind == use) {
            kept.setValue(QLatin1String(name), folder);
        }
    }
}

} // namespace weft::ui
