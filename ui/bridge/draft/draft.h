// SPDX-License-Identifier: GPL-3.0-or-later
// The configuration being edited: a text and what it means. Starting a run freezes a copy; edits
// here never touch a run.
#pragma once

#include "core/compile/config/run_config.h"

#include <QObject>
#include <QString>

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace weft::ui {

/// One change of a document: the value of a JSON pointer, or none: what is there goes.
struct FieldEdit {
    std::string pointer;
    std::optional<config::Json> value;
};

/// Who looks closer at a draft than its own check, which reads no file but the text of a model:
/// where defaults follow the data, that is looked at in the background, and the draft checked
/// again.
enum class FindingSource { Files, Data, Model };

class Draft : public QObject {
    Q_OBJECT
public:
    explicit Draft(QObject* parent = nullptr);

    /// Reads a configuration file; problems become diagnostics, never an exception. What was the
    /// draft before comes back by undo, here as in setDocument.
    void open(const std::filesystem::path& path);
    /// Takes over a document, e.g. a run's frozen configuration for a fork.
    void setDocument(const config::Json& document, const std::filesystem::path& base_dir);
    /// Begins a configuration in which nothing is chosen yet.
    void setEmpty(const std::filesystem::path& base_dir);
    /// A text from `path` (empty: from nowhere) as it was left, e.g. by an earlier session.
    void restore(const std::string& text, const std::filesystem::path& path,
                 const std::filesystem::path& base_dir, bool saved);
    /// Sets one field by dotted path and checks the whole again.
    void setField(const QString& path, const config::Json& value);
    /// Makes several changes as one edit. Edits one after the other with the same `merge` are one
    /// step of undo, e.g. those of one spin box, until endMerge.
    void edit(const std::vector<FieldEdit>& edits, const QString& merge = {});
    void endMerge() { merge_.clear(); }
    /// Makes several "--set" assignments as one edit.
    void apply(const std::vector<std::string>& assignments);
    /// Replaces the text as one edit, as the editor does.
    void setText(const std::string& text);
    /// Writes the text; returns what is wrong, or an empty string.
    QString save(const std::filesystem::path& path);

    /// The file at path() says the same.
    bool isSaved() const { return !path_.empty() && text_ == saved_text_; }
    /// What the file at path() says; empty without one.
    const std::string& savedText() const { return saved_text_; }

    /// Every edit can be taken back, and made again; opening another document is one.
    bool canUndo() const { return !undo_.empty(); }
    bool canRedo() const { return !redo_.empty(); }
    void undo();
    void redo();

    QString name() const;
    bool isEmpty() const { return text_.empty(); }
    bool isValid() const { return !document_.is_null() && !config::has_errors(diagnostics_); }
    /// As the user wrote it; comments and layout are kept until a field is set by program.
    const std::string& text() const { return text_; }
    /// Null while the text is not JSON.
    const config::Json& document() const { return document_; }
    const std::filesystem::path& path() const { return path_; }
    /// Relative paths of the document count from here.
    const std::filesystem::path& baseDir() const { return base_dir_; }
    /// All that is wrong is that something has yet to be chosen.
    bool isUnfinished() const;
    /// Meaningful only when valid.
    const compile::RunConfig& config() const { return config_; }
    const config::Diagnostics& diagnostics() const { return diagnostics_; }
    /// What only a closer look found wrong, the same words once. It does not make the draft
    /// invalid: it can be edited and planned, but not started.
    config::Diagnostics findings() const;
    /// Takes the place of what this source found before, which holds through edits until it has
    /// looked again: nothing flickers.
    void setFindings(FindingSource source, const config::Diagnostics& findings);
    /// What is known of the data by now, for others who read the same document.
    compile::DataLook dataLook() const;
    /// The first error of any kind; none: it can be started.
    std::optional<config::Diagnostic> obstacle() const;
    /// The data is being looked at, for what the document leaves to it.
    bool isLooking() const { return !looking_.empty(); }
    /// In which fields it differs from the configuration of a run. Devices that it leaves to the
    /// run are those that the run has found.
    std::vector<compile::FieldChange> differencesFrom(const compile::RunConfig& run) const;

signals:
    void changed();
    void findingsChanged();
    void looked(); // isLooking() has ended
    /// Edits that were not saved gave way to another document; undo brings them back.
    void replaced(const QString& name_before);

private:
    // All that an edit can change.
    struct Version {
        std::filesystem::path path;
        std::filesystem::path base_dir;
        std::string text;
        std::string saved_text;
    };

    struct SeenData {
        std::string key; // of the data section and where it counts from
        std::optional<data::DataOutline> outline;
    };

    void parse();
    void check();
    void lookAtData(const std::string& key, const config::Json& section,
                    const data::OpenContext& context);
    void endLook();
    void take(config::Json before, config::Diagnostics problems, const QString& merge);
    void tellReplaced(const Version& before, const QString& name);
    void remember();
    Version version() const { return {path_, base_dir_, text_, saved_text_}; }
    void exchange(std::vector<Version>& from, std::vector<Version>& to);

    std::filesystem::path path_;     // where it came from; empty for a document
    std::filesystem::path base_dir_; // relative paths count from here
    std::string text_;
    std::string saved_text_; // of the file at path_
    config::Json document_;  // what the text says, before defaults
    compile::RunConfig config_;
    config::Diagnostics diagnostics_;
    std::optional<SeenData> seen_data_;
    std::string looking_; // the key that a look is on its way for; empty: none
    std::array<config::Diagnostics, 3> findings_; // by source
    std::vector<Version> undo_;                   // before each edit, oldest first
    std::vector<Version> redo_;
    QString merge_; // of the last edit, while more of its kind may follow
};

} // namespace weft::ui
