// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft.h"

#include "core/base/error.h"
#include "core/base/file.h"

namespace weft::ui {

Draft::Draft(QObject* parent) : QObject(parent) {}

void Draft::open(const std::filesystem::path& path) {
    path_ = path;
    base_dir_ = path.parent_path();
    document_ = nullptr;
    config_ = {};
    try {
        const config::Checked parsed = config::parse_json(read_file(path), path.string());
        document_ = parsed.value;
        diagnostics_ = parsed.diagnostics;
    } catch (const Error& error) {
        diagnostics_ = {{"", config::Severity::error, error.message(), error.hint()}};
    }
    if (document_.is_null()) {
        emit changed();
    } else {
        check();
    }
}

void Draft::setDocument(const config::Json& document, const std::filesystem::path& base_dir) {
    path_.clear();
    base_dir_ = base_dir;
    document_ = document;
    check();
}

void Draft::setField(const QString& path, const config::Json& value) {
    const std::string assignment = path.toStdString() + "=" + value.dump();
    const config::Diagnostics problems = config::apply_override(document_, assignment);
    check();
    if (!problems.empty()) {
        diagnostics_.insert(diagnostics_.end(), problems.begin(), problems.end());
        emit changed();
    }
}

QString Draft::name() const {
    if (isValid() && !config_.name.empty()) {
        return QString::fromStdString(config_.name);
    }
    const std::string fallback = path_.empty() ? std::string("untitled") : path_.stem().string();
    return QString::fromStdString(document_.is_object() ? document_.value("name", fallback) : fallback);
}

std::vector<compile::FieldChange> Draft::differencesFrom(const compile::RunConfig& other) const {
    return isValid() ? compile::compare(other, config_) : std::vector<compile::FieldChange>{};
}

void Draft::check() {
    compile::CheckedRun checked = compile::read_run_config(document_, base_dir_);
    diagnostics_ = std::move(checked.diagnostics);
    if (!config::has_errors(diagnostics_)) {
        config_ = std::move(checked.config);
    }
    emit changed();
}

} // namespace weft::ui
