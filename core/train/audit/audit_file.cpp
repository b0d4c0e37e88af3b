// SPDX-License-Identifier: Apache-2.0
// An audit as JSON: what a run's folder keeps and others read.
#include "core/base/error.h"
#include "core/train/audit/audit.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace weft::train {
namespace {

using config::Json;

constexpr int kAuditVersion = 1;
/// Numbers that are not finite become null.
Json losses_json(const std::vector<double>& numbers) {
    Json out = Json::array();
    for (const double number : numbers) {
        out.push_back(std::isfinite(number) ? Json(number) : Json(nullptr));
    }
    return out;
}

std::string hexadecimal(std::uint32_t number) {
    char text[9];
    std::snprintf(text, sizeof text, "%08x", number);
    return text;
}

Json suspect_json(const Suspect& one) {
    Json reasons = Json::array();
    for (const Suspicion reason : one.reasons) {
        reasons.push_back(suspicion_name(reason));
    }
    Json twins = Json::array();
    for (const Twin& twin : one.twins) {
        twins.push_back({{"part", twin.part},
                         {"index", twin.index},
                         {"likeness", twin.likeness},
                         {"exact", twin.exact}});
    }
    Json out{{"part", "train"},
             {"index", one.index},
             {"row", one.row},
             {"crc32c", hexadecimal(one.crc32c)},
             {"reasons", std::move(reasons)},
             {"loss", losses_json(one.loss)},
             {"mean_loss", one.mean_loss}};
    if (one.label >= 0) {
        out["label"] = one.label;
    }
    if (one.says >= 0) {
        out["says"] = one.says;
        out["confidence"] = one.confidence;
    }
    if (one.margin) {
        out["margin"] = *one.margin;
    }
    if (!twins.empty()) {
        out["twins"] = std::move(twins);
    }
    return out;
}

Suspect read_suspect(const Json& json) {
    Suspect out;
    out.index = json.at("index").get<std::int64_t>();
    out.row = json.at("row").get<std::int64_t>();
    out.crc32c =
        static_cast<std::uint32_t>(std::stoul(json.at("crc32c").get<std::string>(), nullptr, 16));
    for (const Json& name : json.at("reasons")) {
        const auto found =
            std::find_if(kSuspicions.begin(), kSuspicions.end(), [&](Suspicion suspicion) {
                return suspicion_name(suspicion) == name.get<std::string>();
            });
        if (found != kSuspicions.end()) {
            out.reasons.push_back(*found);
        }
    }
    for (const Json& loss : json.at("loss")) {
        out.loss.push_back(loss.is_number() ? loss.get<double>() : 0);
    }
    out.mean_loss = json.at("mean_loss").get<double>();
    out.label = json.value("label", out.label);
    out.says = json.value("says", out.says);
    out.confidence = json.value("confidence", 0.0);
    if (json.contains("margin")) {
        out.margin = json.at("margin").get<double>();
    }
    for (const Json& twin : json.value("twins", Json::array())) {
        out.twins.push_back({twin.at("part").get<std::string>(),
                             twin.at("index").get<std::int64_t>(),
                             twin.at("likeness").get<double>(), twin.at("exact").get<bool>()});
    }
    return out;
}

} // namespace

std::string_view suspicion_name(Suspicion suspicion) {
    switch (suspicion) {
    case Suspicion::mislabelled: return "mislabelled";
    case Suspicion::leak: return "leak";
    case Suspicion::duplicate: return "duplicate";
    case Suspicion::hard: return "hard";
    }
    return "";
}

Json to_json(const Audit& audit) {
    Json suspects = Json::array();
    for (const Suspect& one : audit.suspects) {
        suspects.push_back(suspect_json(one));
    }
    return {{"version", kAuditVersion},
            {"checkpoints", audit.checkpoints},
            {"samples", audit.samples},
            {"all_samples", audit.all_samples},
            {"classes", audit.has_classes},
            {"class_names", audit.class_names},
            {"mislabelled", audit.mislabelled},
            {"duplicates", audit.duplicates},
            {"leaks", audit.leaks},
            {"notes", audit.notes},
            {"suspects", std::move(suspects)}};
}

Audit audit_of_json(const Json& json) {
    try {
        if (json.at("version").get<int>() != kAuditVersion) {
            throw Error(ErrorKind::data, "audit", "is of another version", "Audit the run anew.");
        }
        Audit out;
        json.at("checkpoints").get_to(out.checkpoints);
        json.at("samples").get_to(out.samples);
        json.at("all_samples").get_to(out.all_samples);
        json.at("classes").get_to(out.has_classes);
        json.at("class_names").get_to(out.class_names);
        json.at("mislabelled").get_to(out.mislabelled);
        json.at("duplicates").get_to(out.duplicates);
        json.at("leaks").get_to(out.leaks);
        json.at("notes").get_to(out.notes);
        for (const Json& one : json.at("suspects")) {
            out.suspects.push_back(read_suspect(one));
        }
        return out;
    } catch (const Json::exception& fault) {
        throw Error(ErrorKind::data, "audit", std::string("is damaged: ") + fault.what(),
                    "Audit the run anew.");
    } catch (const std::logic_error& fault) {
        throw Error(ErrorKind::data, "audit", std::string("is damaged: ") + fault.what(),
                    "Audit the run anew.");
    }
}

std::filesystem::path audit_file(const std::filesystem::path& run) {
    return run / "audit" / "audit.json";
}

} // namespace weft::train
