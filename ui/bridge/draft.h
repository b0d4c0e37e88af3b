// SPDX-License-Identifier: GPL-3.0-or-later
// The configuration being edited. Starting a run freezes a copy; edits here never touch a run.
#pragma once

#include "core/compile/run_config.h"

#include <QObject>
#include <QString>

#include <filesystem>
#include <vector>

namespace weft::ui {

class Draft : public QObject {
    Q_OBJECT
public:
    explicit Draft(QObject* parent = nullptr);

    /// Reads a configuration file; problems become diagnostics, never an exception.
    void open(const std::filesystem::path& path);
    /// Takes over a document, e.g. a run's frozen configuration for a fork.
    void setDocument(const config::Json& document, const std::filesystem::path& base_dir);
    /// Sets one field by dotted path and checks the whole again.
    void setField(const QString& path, const config::Json& value);

    QString name() const;
    bool isEmpty() const { return document_.is_null(); }
    bool isValid() const { return !isEmpty() && !config::has_errors(diagnostics_); }
    const config::Json& document() const { return document_; }
    const std::filesystem::path& path() const { return path_; }
    /// Meaningful only when valid.
    const compile::RunConfig& config() const { return config_; }
    const config::Diagnostics& diagnostics() const { return diagnostics_; }
    /// How many fields differ from another frozen configuration.
    std::vector<compile::FieldChange> differencesFrom(const compile::RunConfig& other) const;

signals:
    void changed();

private:
    void check();

    std::filesystem::path path_;     // where it came from; empty for a document
    std::filesystem::path base_dir_; // relative paths count from here
    config::Json document_;          // as the user wrote it, with edits
    compile::RunConfig config_;
    config::Diagnostics diagnostics_;
};

} // namespace weft::ui
