// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/draft/draft.h"

#include "core/base/error.h"
#include "core/base/file.h"
#include "ui/bridge/background.h"
#include "ui/bridge/convert.h"

#include <algorithm>
#include <utility>

namespace weft::ui {
namespace {

// A document is a few kilobytes; more edits back than this nobody goes.
constexpr std::size_t kMostUndo = 100;

std::string documentText(const config::Json& document) {
    return document.dump(2, ' ', false, config::Json::error_handler_t::replace) + "\n";
}

/// In which nothing is chosen.
config::Json emptyDocument() {
    return {{"schema_version", 1}};
}

/// What an outline is of.
std::string dataKey(const config::Json& section, const data::OpenContext& context) {
    return section.dump(-1, ' ', false, config::Json::error_handler_t::replace) + '\n' +
           context.base_dir.string();
}

/// Takes out what a pointer leads to; nothing happens where there is nothing.
void remove_at(config::Json& document, const std::string& pointer) {
    const config::Json::json_pointer at(pointer);
    if (pointer.empty() || !document.contains(at)) {
        return;
    }
    config::Json& parent = document[at.parent_pointer()];
    if (parent.is_array()) {
        parent.erase(std::stoul(at.back()));
    } else {
        parent.erase(at.back());
    }
}

} // namespace

Draft::Draft(QObject* parent) : QObject(parent) {}

void Draft::open(const std::filesystem::path& path) {
    const Version before = version();
    const QString name_before = name();
    remember();
    path_ = path;
    base_dir_ = path.parent_path();
    seen_data_.reset(); // files may have changed
    try {
        text_ = read_file(path);
        saved_text_ = text_;
        parse();
    } catch (const Error& error) {
        text_.clear();
        document_ = nullptr;
        diagnostics_ = {
            {"", config::Severity::error, error.where() + ": " + error.text(), error.hint()}};
        emit changed();
    }
    tellReplaced(before, name_before);
}

void Draft::setDocument(const config::Json& document, const std::filesystem::path& base_dir) {
    const Version before = version();
    const QString name_before = name();
    remember();
    path_.clear();
    saved_text_.clear();
    base_dir_ = base_dir;
    seen_data_.reset();
    document_ = document;
    text_ = documentText(document_);
    check();
    tellReplaced(before, name_before);
}

void Draft::setEmpty(const std::filesystem::path& base_dir) {
    setDocument(emptyDocument(), base_dir);
}

void Draft::tellReplaced(const Version& before, const QString& name) {
    const bool saved = !before.path.empty() && before.text == before.saved_text;
    const bool nothing = before.text.empty() || before.text == documentText(emptyDocument());
    if (!nothing && !saved && before.text != text_) {
        emit replaced(name);
    }
}

void Draft::restore(const std::string& text, const std::filesystem::path& path,
                    const std::filesystem::path& base_dir, bool saved) {
    remember();
    seen_data_.reset();
    path_ = path;
    base_dir_ = base_dir;
    text_ = text;
    saved_text_ = saved ? text : std::string();
    parse();
}

void Draft::setField(const QString& path, const config::Json& value) {
    apply({path.toStdString() + "=" + value.dump()});
}

void Draft::apply(const std::vector<std::string>& assignments) {
    config::Json before = document_;
    config::Diagnostics problems;
    for (const std::string& assignment : assignments) {
        const config::Diagnostics found = config::apply_override(document_, assignment);
        problems.insert(problems.end(), found.begin(), found.end());
    }
    take(std::move(before), std::move(problems), {});
}

void Draft::edit(const std::vector<FieldEdit>& edits, const QString& merge) {
    config::Json before = document_;
    config::Diagnostics problems;
    for (const FieldEdit& one : edits) {
        if (!one.value) {
            remove_at(document_, one.pointer);
            continue;
        }
        const config::Diagnostics found =
            config::apply_override(document_, one.pointer + "=" + one.value->dump());
        problems.insert(problems.end(), found.begin(), found.end());
    }
    take(std::move(before), std::move(problems), merge);
}

/// The document was changed: what was before can be had back.
void Draft::take(config::Json before, config::Diagnostics problems, const QString& merge) {
    if (document_ != before) {
        if (merge.isEmpty() || merge != merge_) {
            remember();
        }
        redo_.clear();
        text_ = documentText(document_);
        merge_ = merge;
    }
    check();
    if (!problems.empty()) {
        diagnostics_.insert(diagnostics_.end(), problems.begin(), problems.end());
        emit changed();
    }
}

void Draft::setText(const std::string& text) {
    if (text != text_) {
        remember();
        text_ = text;
        parse();
    }
}

QString Draft::save(const std::filesystem::path& path) {
    try {
        write_file_atomically(path, text_);
    } catch (const Error& error) {
        return toQString(error.message());
    }
    path_ = path;
    saved_text_ = text_;
    base_dir_ = path.parent_path();
    parse(); // relative paths count from the new place
    return {};
}

void Draft::undo() {
    exchange(undo_, redo_);
}

void Draft::redo() {
    exchange(redo_, undo_);
}

void Draft::remember() {
    merge_.clear();
    redo_.clear();
    if (isEmpty()) {
        return; // nothing that anybody would want back
    }
    undo_.push_back(version());
    if (undo_.size() > kMostUndo) {
        undo_.erase(undo_.begin());
    }
}

void Draft::exchange(std::vector<Version>& from, std::vector<Version>& to) {
    if (from.empty()) {
        return;
    }
    merge_.clear();
    to.push_back(version());
    Version back = std::move(from.back());
    from.pop_back();
    path_ = std::move(back.path);
    base_dir_ = std::move(back.base_dir);
    text_ = std::move(back.text);
    saved_text_ = std::move(back.saved_text);
    parse();
}

QString Draft::name() const {
    if (isValid() && !config_.name.empty()) {
        return QString::fromStdString(config_.name);
    }
    const std::string fallback = path_.empty() ? std::string("untitled") : path_.stem().string();
    return QString::fromStdString(document_.is_object() ? document_.value("name", fallback)
                                                        : fallback);
}

std::vector<compile::FieldChange> Draft::differencesFrom(const compile::RunConfig& run) const {
    if (!isValid()) {
        return {};
    }
    std::vector<compile::FieldChange> changes = compile::compare(run, config_);
    std::erase_if(changes, [](const compile::FieldChange& change) {
        return change.path == "mesh.devices" && change.after == "auto";
    });
    return changes;
}

bool Draft::isUnfinished() const {
    return document_.is_object() && !isValid() &&
           std::all_of(diagnostics_.begin(), diagnostics_.end(), [this](const auto& found) {
               return found.severity != config::Severity::error ||
                      !document_.contains(config::Json::json_pointer(found.pointer));
           });
}

config::Diagnostics Draft::findings() const {
    config::Diagnostics all;
    // Whoever knows the field goes first.
    for (const FindingSource source :
         {FindingSource::Files, FindingSource::Model, FindingSource::Data}) {
        for (const config::Diagnostic& found : findings_[static_cast<std::size_t>(source)]) {
            if (std::none_of(all.begin(), all.end(), [&](const config::Diagnostic& known) {
                    return known.message == found.message;
                })) {
                all.push_back(found);
            }
        }
    }
    return all;
}

void Draft::setFindings(FindingSource source, const config::Diagnostics& findings) {
    config::Diagnostics& known = findings_[static_cast<std::size_t>(source)];
    const auto same = [](const config::Diagnostic& a, const config::Diagnostic& b) {
        return a.pointer == b.pointer && a.severity == b.severity && a.message == b.message &&
               a.hint == b.hint;
    };
    if (std::equal(known.begin(), known.end(), findings.begin(), findings.end(), same)) {
        return; // every edit is looked at: forms and marks follow only what is new
    }
    known = findings;
    emit findingsChanged();
}

std::optional<config::Diagnostic> Draft::obstacle() const {
    for (const config::Diagnostics& list : {diagnostics_, findings()}) {
        for (const config::Diagnostic& found : list) {
            if (found.severity == config::Severity::error) {
                return found;
            }
        }
    }
    if (isLooking()) {
        return config::Diagnostic{
            "/data", config::Severity::error,
            tr("the data is being looked at, for the batch and the length").toStdString(),
            tr("Give both, or wait a moment.").toStdString()};
    }
    return std::nullopt;
}

void Draft::parse() {
    config::Checked parsed =
        config::parse_json(text_, path_.empty() ? "the draft" : path_.string());
    document_ = std::move(parsed.value);
    if (parsed.ok()) {
        check();
    } else {
        diagnostics_ = std::move(parsed.diagnostics);
        endLook(); // it was for a text that is gone
        emit changed();
    }
}

compile::DataLook Draft::dataLook() const {
    return [this](const config::Json& section,
                  const data::OpenContext& context) -> std::optional<data::DataOutline> {
        if (section.at("train").at("type") == "synthetic") {
            return compile::look_at_data(section, context); // no files
        }
        const bool seen = seen_data_ && seen_data_->key == dataKey(section, context);
        return seen ? seen_data_->outline : std::nullopt;
    };
}

void Draft::lookAtData(const std::string& key, const config::Json& section,
                       const data::OpenContext& context) {
    if (looking_ == key || (seen_data_ && seen_data_->key == key)) {
        return;
    }
    looking_ = key;
    runInBackground(
        this, [section, context] { return compile::look_at_data(section, context); },
        [this, key](std::optional<data::DataOutline> found) {
            if (looking_ == key) { // nothing else is looked for by now
                seen_data_ = SeenData{key, std::move(found)};
                endLook();
                check();
            }
        });
}

void Draft::check() {
    const compile::DataLook known = dataLook();
    bool open = false; // what the data decides is not known yet
    compile::CheckedRun checked = compile::read_run_config(
        document_, base_dir_, {},
        [&](const config::Json& section, const data::OpenContext& context) {
            auto outline = known(section, context);
            if (!outline) {
                open = true;
                lookAtData(dataKey(section, context), section, context);
            }
            return outline;
        });
    if (!open) {
        endLook();
    }
    diagnostics_ = std::move(checked.diagnostics);
    if (!config::has_errors(diagnostics_)) {
        config_ = std::move(checked.config);
    }
    emit changed();
}

void Draft::endLook() {
    if (!std::exchange(looking_, {}).empty()) {
        // Those who wait for it find the draft checked.
        QMetaObject::invokeMethod(this, &Draft::looked, Qt::QueuedConnection);
    }
}

} // namespace weft::ui
