// SPDX-License-Identifier: Apache-2.0
#include "core/base/error.h"
#include "core/base/text.h"
#include "core/foreign/family_list.h"

#include <algorithm>

namespace weft::foreign {
namespace {

/// Small enough that no sum or product of two of them overflows.
bool is_size(const Json& value) {
    return value.is_number_unsigned() && value.get<std::uint64_t>() <= std::uint64_t{1} << 31;
}

} // namespace

const Json* ConfigReader::member(const char* key) const {
    const auto found = json_.find(key);
    return found == json_.end() || found->is_null() ? nullptr : &*found;
}

void ConfigReader::expect(const char* key, const char* what) const {
    problems_.push_back({std::string("/") + key, config::Severity::error,
                         shown(json_.at(key).dump()) + " is not " + what,
                         "Get the config.json again."});
}

std::int64_t ConfigReader::whole(const char* key, std::int64_t otherwise) const {
    const Json* value = member(key);
    if (value == nullptr) {
        return otherwise;
    }
    if (!is_size(*value)) {
        expect(key, "a whole number from 0 to 2^31");
        return otherwise;
    }
    return value->get<std::int64_t>();
}

double ConfigReader::real(const char* key, double otherwise) const {
    const Json* value = member(key);
    if (value != nullptr && !value->is_number()) {
        expect(key, "a number");
        return otherwise;
    }
    return value == nullptr ? otherwise : value->get<double>();
}

bool ConfigReader::flag(const char* key, bool otherwise) const {
    const Json* value = member(key);
    if (value != nullptr && !value->is_boolean()) {
        expect(key, "true or false");
        return otherwise;
    }
    return value == nullptr ? otherwise : value->get<bool>();
}

std::string ConfigReader::text(const char* key, const std::string& otherwise) const {
    const Json* value = member(key);
    if (value != nullptr && !value->is_string()) {
        expect(key, "a text");
        return otherwise;
    }
    return value == nullptr ? otherwise : value->get<std::string>();
}

std::vector<std::int64_t> ConfigReader::wholes(const char* key) const {
    const Json* value = member(key);
    if (value == nullptr) {
        return {};
    }
    if (!value->is_array() || !std::all_of(value->begin(), value->end(), is_size)) {
        expect(key, "a list of whole numbers from 0 to 2^31");
        return {};
    }
    return value->get<std::vector<std::int64_t>>();
}

const Json& ConfigReader::object(const char* key) const {
    static const Json kNone = Json::object();
    const Json* value = member(key);
    if (value != nullptr && !value->is_object()) {
        expect(key, "an object");
        return kNone;
    }
    return value == nullptr ? kNone : *value;
}

bool ConfigReader::has(const char* key) const {
    return member(key) != nullptr;
}

std::int64_t ConfigReader::needed(const char* key) const {
    if (member(key) == nullptr) {
        refuse(key, "it is not there, and the model's size depends on it");
        return 0;
    }
    return whole(key, 0);
}

void ConfigReader::refuse(const char* key, const std::string& text) const {
    problems_.push_back({std::string("/") + key, config::Severity::error, text,
                         "Such a model cannot be had here; its weights would compute something "
                         "else."});
}

void ConfigReader::warn(const char* key, const std::string& text) const {
    problems_.push_back({std::string("/") + key, config::Severity::warning, text, ""});
}

const Family* family_of(std::string_view model_type) {
    const auto found = std::find_if(kFamilies.begin(), kFamilies.end(), [&](const Family* family) {
        return family->describe != nullptr && family->name == model_type;
    });
    return found == kFamilies.end() ? nullptr : *found;
}

const Family& family_for(std::string_view as, const Json& model) {
    const auto& type = model.at("type").get_ref<const std::string&>();
    std::string reason;
    for (const Family* family : kFamilies) {
        if (family->as != as || family->model != type) {
            continue;
        }
        const std::string refused =
            family->refuses != nullptr ? family->refuses(model) : std::string();
        if (refused.empty()) {
            return *family;
        }
        reason = reason.empty() ? refused : reason;
    }
    throw Error(ErrorKind::usage, "--as " + std::string(as),
                reason.empty() ? "the model '" + type + "' is none that is written so"
                               : "the model cannot be written so: " + reason,
                "safetensors and npz hold any model, by its own names");
}

} // namespace weft::foreign
