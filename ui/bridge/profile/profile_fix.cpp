// SPDX-License-Identifier: GPL-3.0-or-later
#include "ui/bridge/profile/profile_fix.h"

#include "core/train/record/loader_watch.h"
#include "ui/bridge/convert.h"

#include <QCoreApplication>

#include <algorithm>

namespace weft::ui {
namespace {

struct FixWords {
    Q_DECLARE_TR_FUNCTIONS(ProfileFix)
};

ProfileFix settingFix(const std::string& pointer, const config::Json& value) {
    const QString name = toQString(pointer.substr(pointer.rfind('/') + 1));
    const QString text =
        value.is_string() ? toQString(value.get<std::string>()) : toQString(value.dump());
    QString path = toQString(pointer.substr(1));
    path.replace(QLatin1Char('/'), QLatin1Char('.'));
    return {FixWords::tr("Set %1 to %2").arg(name, text),
            FixWords::tr("Sets %1 in the draft: it holds from the next start on.").arg(path),
            {{pointer, value}}};
}

// As the loader's own figures advise; without them, twice as many as far as there are cores.
std::optional<ProfileFix> loaderFix(const compile::RunConfig& run,
                                    const std::optional<train::LoaderEvent>& loader, int cores) {
    if (loader) {
        const train::LoaderVerdict verdict = train::judge_loader(*loader, cores);
        if (!verdict.pointer.empty()) {
            return settingFix(verdict.pointer, verdict.value);
        }
    }
    const int more = std::min(cores, std::max(1, 2 * run.num_workers));
    if (more <= run.num_workers) {
        return std::nullopt;
    }
    return settingFix("/data/num_workers", more);
}

// Where the micro batch is set it has to grow, too: else there are only more of them.
ProfileFix batchFix(const compile::RunConfig& run) {
    ProfileFix out = settingFix("/training/global_batch_size", 2 * run.global_batch_size);
    const config::Json& training = run.document.at("training");
    if (const auto micro = training.find("micro_batch_size");
        micro != training.end() && micro->is_number_integer()) {
        out.edits.push_back({"/training/micro_batch_size", 2 * micro->get<std::int64_t>()});
    }
    return out;
}

} // namespace

std::optional<ProfileFix> fixOf(const profile::Cause& cause, const compile::RunConfig& run,
                                const std::optional<train::LoaderEvent>& loader, int cores) {
    if (!run.document.is_object()) {
        return std::nullopt; // another program's run
    }
    if (cause.setting == "data.num_workers") {
        return loaderFix(run, loader, cores);
    }
    if (cause.setting == "training.global_batch_size") {
        return batchFix(run);
    }
    if (cause.setting == "training.precision" && run.precision != "bf16") {
        return settingFix("/training/precision", "bf16");
    }
    if (cause.setting == "mesh") {
        ProfileFix out;
        out.label = FixWords::tr("Mesh && Plan");
        out.tooltip = FixWords::tr("Shows how the draft is spread over its devices.");
        out.opens_plan = true;
        return out;
    }
    return std::nullopt;
}

bool hasFix(const config::Json& draft, const ProfileFix& fix) {
    return !fix.edits.empty() && draft.is_object() &&
           std::all_of(fix.edits.begin(), fix.edits.end(), [&](const FieldEdit& edit) {
               const config::Json::json_pointer at(edit.pointer);
               return draft.contains(at) && draft.at(at) == *edit.value;
           });
}

} // namespace weft::ui
